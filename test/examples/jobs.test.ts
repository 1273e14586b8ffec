import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import svc from '../../examples/jobs/service.ts'
import { folder, root, serveFile, serving, until } from '../cli/process.ts'
import { eventsOf } from '../jobs/harness.ts'
import { hasRedis, redisServer } from '../jobs/redis-server.ts'

const service = join(root, 'examples/jobs/service.ts')
const towns = [0, 1, 2, 3, 4, 5, 6].map((i) => [(i * 37) % 50, (i * 23) % 40] as const)
const headers = { 'content-type': 'application/json' }

/** The length of the shortest trip, by trying all. */
function shortest(order: readonly number[], rest: readonly number[]): number {
  if (rest.length === 0) {
    const place = (i: number) => towns[order[i % order.length]]
    return order.reduce(
      (sum, _, i) => sum + Math.hypot(place(i)[0] - place(i + 1)[0], place(i)[1] - place(i + 1)[1]),
      0,
    )
  }
  return Math.min(
    ...rest.map((town) =>
      shortest(
        [...order, town],
        rest.filter((other) => other !== town),
      ),
    ),
  )
}
const best = Math.round(shortest([0], [1, 2, 3, 4, 5, 6]) * 100) / 100

interface Trip {
  readonly length: number
  readonly order: readonly number[]
}

const tripsOf = (text: string): Trip[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Submits the towns, and returns the path of the job. */
async function submit(base: string): Promise<string> {
  const sent = {
    method: 'POST',
    headers: { ...headers, prefer: 'respond-async' },
    body: JSON.stringify(towns),
  }
  const answer = await fetch(`${base}/plan`, sent)
  expect(answer.status).toBe(202)
  return answer.headers.get('location') as string
}

async function bestOf(url: string): Promise<number | undefined> {
  const answer = await until(async () => {
    const result = await fetch(`${url}/result`, { headers: { prefer: 'wait=5' } })
    return result.status !== 202 && result
  })
  expect(answer.status).toBe(200)
  return tripsOf(await answer.text()).at(-1)?.length
}

describe('the model', () => {
  beforeAll(() => svc.start())
  afterAll(() => svc.stop())

  it('finds better and better trips through all towns, and the shortest at last', async () => {
    const response = await svc.inject({ path: '/plan', body: JSON.stringify(towns), headers })
    const trips = tripsOf(response.text())
    expect(trips.at(-1)?.length).toBe(best)
    expect([...trips].sort((a, b) => b.length - a.length)).toEqual(trips)
    expect([...(trips.at(-1)?.order ?? [])].sort()).toEqual([0, 1, 2, 3, 4, 5, 6])
  })
})

it.skipIf(!isBuiltin('node:sqlite'))(
  'tells its progress and its trips as they come, and keeps the last',
  async () => {
    const { port } = await serveFile(service, ['--workers', '1'], { cwd: folder({}) })
    const base = `http://127.0.0.1:${port}`
    const job = await submit(base)
    const events = eventsOf(await (await fetch(`${base}${job}/events`)).text())
    expect(events.at(-1)).toMatchObject({ event: 'status', data: { status: 'completed' } })
    const progress = events
      .filter(({ event }) => event === 'progress')
      .map(({ data }) => data.progress as { done: number })
    expect(progress.at(-1)).toEqual({ done: 1 })
    const partial = events
      .filter(({ event }) => event === 'partial')
      .map(({ data }) => data.partial as string)
    expect(tripsOf(partial.join('')).at(-1)?.length).toBe(best)
    expect(await bestOf(base + job)).toBe(best)
  },
)

it.skipIf(!hasRedis)(
  'runs in two workers what two servers take in, on Redis',
  { timeout: 120_000 },
  async () => {
    const redis = await redisServer()
    // Last: processes that end wait for it.
    onTestFinished(() => redis.stop())
    const cwd = folder({})
    const store = ['--workers', '1', '--job-store', redis.url]
    const servers = await Promise.all(
      [1, 2].map(() => serveFile(service, ['--job-role', 'submit', ...store], { cwd })),
    )
    const [one, other] = servers.map(({ port }) => `http://127.0.0.1:${port}`)
    const jobs = await Promise.all([one, other, one, other].map(submit))
    // No server runs any.
    expect(await (await fetch(one + jobs[0])).json()).toMatchObject({
      status: 'queued',
      attempt: 0,
    })
    for (const _ of [1, 2]) serving(['work', service, '--port', '0', ...store], { cwd })
    // Each server knows the jobs of the other.
    for (const job of jobs) {
      expect(await bestOf(one + job)).toBe(best)
      expect(await bestOf(other + job)).toBe(best)
    }
  },
)
