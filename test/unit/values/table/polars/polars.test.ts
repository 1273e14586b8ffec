import { describe, expect, it } from 'vitest'
import { frameOf, polars } from '../../../descriptors/frames.ts'

describe('Parquet of a frame', () => {
  for (const rows of [0, 1, 1000, 300_000]) {
    it(`of ${rows} rows is read as what Polars writes by itself`, () => {
      const numbers = Array.from({ length: rows }, (_, i) => i / 3)
      const frame = frameOf([
        ['a', 'float64', numbers],
        ['b', 'str', numbers.map((x) => (x === 1 ? null : `text ${Math.round(x)}`))],
      ])
      const [own, its] = [polars.writeParquet(frame), frame.writeParquet()].map((file) =>
        polars.readParquet(file),
      )
      expect(own.dtypes).toEqual(its.dtypes)
      expect(own.frameEqual(its, true)).toBe(true)
    })
  }
})
