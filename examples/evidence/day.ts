/**
 * The callers of one day, in as many seconds as you like.
 * @module
 */
import type { Delivery } from './model.ts'

/** Numbers from 0 to 1, the same every time. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const vehicles = ['bike', 'bike', 'bike', 'van', 'van', 'van', 'van', 'van', 'van', 'scooter']

/** Returns the deliveries of a day in their order: more at noon and in the evening, few at night. */
export function deliveriesOf(count: number): Delivery[] {
  const random = randomOf(7)
  const hours = Array.from({ length: count }, () =>
    Math.min(23, Math.floor(8 + 14 * ((random() + random() + random()) / 3))),
  )
  return hours
    .toSorted((a, b) => a - b)
    .map((hour) => ({
      km: Math.round((0.4 + random() ** 2 * 20) * 10) / 10,
      stops: Math.floor(random() * 5),
      hour,
      vehicle: vehicles[Math.floor(random() * vehicles.length)],
    }))
}

/** Sends a day to a server, and returns how many requests had each status. */
export async function sendDay(
  origin: string,
  { count = 600, seconds = 6 } = {},
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  const startMs = Date.now()
  const sent = deliveriesOf(count).map(async (delivery, i) => {
    const dueMs = (i * seconds * 1000) / count
    await new Promise((resolve) => setTimeout(resolve, startMs + dueMs - Date.now()))
    const { status } = await fetch(`${origin}/estimate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(delivery),
    })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  })
  await Promise.all(sent)
  return statuses
}
