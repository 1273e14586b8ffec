import { setTimeout as wait } from 'node:timers/promises'
import type { NDArray } from 'serving'

/** Long enough for other calls to come meanwhile. **Units**: milliseconds. */
const callMs = 1000

/** A model whose calls take a while, whatever their size. */
export function load() {
  return {
    async predict(rows: NDArray<'float32'>) {
      await wait(callMs)
      return rows
    },
  }
}
