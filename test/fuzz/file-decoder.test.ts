import { readdirSync, readFileSync } from 'node:fs'
import { BadInput } from 'serving'
import { describe, expect, it } from 'vitest'
import { mutations, seeded } from '../../src/testing/mutate.ts'
import { type Column, textAt } from '../../src/values/table/columns.ts'
import { decodeFile } from '../../src/values/table/file-decoder.ts'
import { fixture, polars } from '../unit/descriptors/frames.ts'
import { badParquet, deepParquet, goodParquet, wideParquet } from './parquet-corpus.ts'

const good = fixture('small.parquet')
const decode = (file: Uint8Array, limits = {}) => decodeFile(file, 'the tests', 'Parquet', limits)

describe('hostile Parquet', () => {
  it('of every shape and encoding is read when it is not damaged', async () => {
    for (const file of goodParquet) expect((await decode(file)).rows).toBe(64)
  })

  it('gives a frame or a BadInput, whatever is damaged', async () => {
    const random = seeded(41)
    const outcomes = { read: 0, refused: 0 }
    for (let i = 0; i < 400; i++) {
      try {
        await decode(badParquet(random))
        outcomes.read++
      } catch (error) {
        expect(error).toBeInstanceOf(BadInput)
        outcomes.refused++
      }
    }
    expect(outcomes.read).toBeGreaterThan(10)
    expect(outcomes.refused).toBeGreaterThan(100)
    expect((await decode(good)).rows).toBe(3)
  })

  it('with groups deep inside each other, or too many columns, is refused before it is decoded', async () => {
    expect((await decode(deepParquet(16))).columns.length).toBe(1)
    expect((await decode(wideParquet(10_000))).columns.length).toBe(10_000)
    await expect(decode(wideParquet(17_000))).rejects.toMatchObject({ reason: 'size' })
    for (const groups of [17, 1000, 200_000]) {
      await expect(decode(deepParquet(groups))).rejects.toMatchObject({ reason: 'size' })
    }
  })
})

describe('hostile Arrow', () => {
  const folder = new URL('../fixtures/strangers/', import.meta.url)
  const names = readdirSync(folder).filter((name) => name.endsWith('.stream'))

  it.each(names)(
    'gives columns that Polars takes or a BadInput, whatever is damaged: %s',
    async (name) => {
      for (const body of mutations(readFileSync(new URL(name, folder)), 150)) {
        try {
          const { rows, columns } = await decodeFile(body, 'the tests', 'Arrow')
          expect(polars.fromColumns({ rows, columns }).height).toBe(rows)
        } catch (error) {
          expect(error).toBeInstanceOf(BadInput)
        }
      }
    },
  )
})

describe('categories in several row groups', () => {
  it('are read, and written as JSON when they were put together', async () => {
    const { rows, columns } = await decode(goodParquet.at(-1) as Buffer)
    const category = columns.find(({ name }) => name === 'category') as Column
    const words = Array.from({ length: rows }, (_, row) => textAt(category, row))
    expect([category.polarsType, words]).toEqual([
      'Categorical',
      Array.from({ length: 64 }, (_, i) => `word ${i % 9}`),
    ])
    expect(polars.toColumns(polars.readParquet(goodParquet.at(-1) as Buffer))).toMatchObject({
      rows: 64,
    })
  })
})
