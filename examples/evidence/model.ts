/**
 * A model of delivery times: what it has learned is in a file of JSON.
 * @module
 */
import { readFileSync } from 'node:fs'

/** A delivery to estimate. */
export interface Delivery {
  readonly km: number
  readonly stops: number
  /** When it starts, from 0 to 23. */
  readonly hour: number
  readonly vehicle: string
}

interface Learned {
  readonly minutes: { readonly start: number; readonly km: number; readonly stop: number }
  readonly vehicles: Readonly<Record<string, number>>
  readonly rush: { readonly hours: readonly number[]; readonly factor: number }
}

/** Called once in each thread. */
export function load(file: string) {
  const { minutes, vehicles, rush } = JSON.parse(readFileSync(file, 'utf8')) as Learned
  return {
    /** Returns the minutes of each delivery. */
    estimate(deliveries: readonly Delivery[]): number[] {
      return deliveries.map(({ km, stops, hour, vehicle }) => {
        const pace = vehicles[vehicle]
        if (pace === undefined) throw new Error(`the model has not learned the vehicle ${vehicle}`)
        const way = minutes.start + km * minutes.km * pace + stops * minutes.stop
        return way * (rush.hours.includes(hour) ? rush.factor : 1)
      })
    },
  }
}
