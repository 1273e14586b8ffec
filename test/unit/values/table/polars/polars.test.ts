import pl from 'nodejs-polars'
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
      const [own, its] = [polars.writeParquet(frame), frame.writeParquet()].map((file) => polars.readParquet(file))
      expect(own.dtypes).toEqual(its.dtypes)
      expect(own.frameEqual(its, true)).toBe(true)
    })
  }
})

describe('the characters of a frame', () => {
  it('are those of its texts, and none of its nulls', () => {
    const frame = pl.DataFrame({ a: ['é😀', null], '*': ['abc', ''], n: [1, 2], none: [null, null] })
    expect(polars.countCharacters(frame)).toBe(5)
    expect(polars.countCharacters(frame.slice(0, 0))).toBe(0)
    expect(frame.columns).toEqual(['a', '*', 'n', 'none'])
  })

  it('are counted beyond 32 bits: a shared text of 64 KiB in as many rows', () => {
    const frame = pl
      .DataFrame({ n: Array.from({ length: 2 ** 16 }, (_, i) => i) })
      .withColumn(pl.lit('x'.repeat(2 ** 16)).alias('t'))
    expect(polars.countCharacters(frame)).toBe(2 ** 32)
  })

  it('are counted in all columns of a wide frame', () => {
    const frame = pl.DataFrame(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`c${i}`, ['abc', null]])))
    expect(polars.countCharacters(frame)).toBe(6000)
    expect(frame.columns[1999]).toBe('c1999')
  })
})
