import { readdirSync, readFileSync } from 'node:fs'
import { BadInput } from 'serving'
import { beforeAll, describe, expect, it } from 'vitest'
import { TempFile } from '../../../../../src/core/file/temp-file.ts'
import { aboveLimit, parquetLimits, readParquetFooter } from '../../../../../src/values/table/parquet/parquet-footer.ts'
import { decodeParquet, openPair } from '../../../../../src/values/table/parquet/parquet-sandbox.ts'
import { withFooter } from '../../../../fuzz/parquet-corpus.ts'
import { fixture, frameOf, polars } from '../../../descriptors/frames.ts'

const file = polars.writeParquet(frameOf([['a', 'float64', Array.from({ length: 1000 }, (_, i) => i / 3)]]))

/** Rows of one value: a few hundred bytes a row group in the file, eight bytes a row in memory. */
function bombOf(rows: number): Uint8Array {
  const data = new Uint8Array(rows * 8)
  return polars.writeParquet(polars.fromColumns({ rows, columns: [{ name: 'a', kind: 'int64', data }] }))
}

/** Returns the children of this process that decode. */
function decoders(): number[] {
  const isDecoder = (pid: number) => {
    try {
      const parent = Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1])
      return parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('parquet-child')
    } catch {
      return false
    }
  }
  return readdirSync('/proc').map(Number).filter(isDecoder)
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024
}

describe('the Parquet sandbox', () => {
  beforeAll(async () => {
    await decodeParquet(file, 'the tests')
  })

  it('decodes several files at once', async () => {
    const frames = await Promise.all(Array.from({ length: 6 }, () => decodeParquet(file, 'the tests')))
    expect(frames.map(({ height }) => height)).toEqual([1000, 1000, 1000, 1000, 1000, 1000])
  })

  it('keeps the frames of files apart that came at once, and when others come', async () => {
    const numbers = Array.from({ length: 8 }, (_, i) => Array.from({ length: 500 * (i + 1) }, (_, row) => row * i))
    const frames = await Promise.all(
      numbers.map((column) => decodeParquet(polars.writeParquet(frameOf([['a', 'int64', column]])), 'the tests')),
    )
    expect(frames.map((frame) => frame.getColumn('a').toArray())).toEqual(numbers)
  })

  it('gives up a file that takes too much memory, and answers the others', async () => {
    const bomb = bombOf(20_000_000)
    const limits = { maxMemoryBytes: 200e6, maxUnpackedBytes: 2 ** 40 }
    const pending = decodeParquet(bomb, 'the tests', limits)
    await expect(pending).rejects.toThrow(/too much memory/)
    await expect(pending).rejects.toBeInstanceOf(BadInput)
    expect((await decodeParquet(file, 'the tests')).height).toBe(1000)
  }, 60_000)

  it('decodes file after file in the memory that one takes', async () => {
    // Each is watched for some 50 ms, and 60 of them would take a GB.
    const large = bombOf(2_000_000)
    for (let i = 0; i < 60; i++) {
      const frame = await decodeParquet(large, 'the tests', { maxMemoryBytes: 600e6 })
      expect(frame.height).toBe(2_000_000)
    }
  }, 60_000)

  it.skipIf(process.platform !== 'linux')(
    'replaces a decoder that holds more than half of what the next file may take',
    async () => {
      await decodeParquet(file, 'the tests')
      const held = decoders()
      const resident = Math.min(...held.map(residentBytes))
      expect(resident).toBeGreaterThan(2 ** 24)
      // Small files, so that the watch, every 20 ms, does not see them.
      for (const _ of held) await decodeParquet(file, 'the tests', { maxMemoryBytes: resident * 1.5 })
      await expect.poll(() => decoders().filter((pid) => held.includes(pid)).length).toBeLessThan(held.length)
      expect((await decodeParquet(file, 'the tests')).height).toBe(1000)
    },
  )

  it('opens both files of a decoder or none', () => {
    const opened: TempFile[] = []
    const open = () => {
      if (opened.length === 1) throw new Error('no more descriptors')
      opened.push(new TempFile())
      return opened[0]
    }
    expect(() => openPair(open)).toThrow('no more descriptors')
    expect(() => opened[0].writeSync(Buffer.from('x'), 0)).toThrow(/used after/)
  })
})

describe('a Parquet footer', () => {
  it("tells rows and columns as pyarrow's and Polars' files have them", () => {
    expect(readParquetFooter(fixture('small.parquet'))).toMatchObject({ rows: 3, columns: 4 })
    expect(readParquetFooter(fixture('groups.parquet'))).toMatchObject({ rows: 20000, columns: 2 })
    expect(readParquetFooter(file)).toMatchObject({ rows: 1000, columns: 1 })
    expect(readParquetFooter(fixture('../parquet/nested.parquet'))).toMatchObject({
      ...{ rows: 64, columns: 6, depth: 4, schemaElements: 17 },
    })
    expect(readParquetFooter(fixture('../parquet/bombs/elements.parquet'))).toMatchObject({ rows: 1, values: 50e6 })
  })

  it('is refused above any limit before anything is decoded', async () => {
    const footer = { rows: 10, columns: 10, unpackedBytes: 10, values: 100, depth: 0, schemaElements: 11 }
    expect(aboveLimit(footer, parquetLimits)).toBeUndefined()
    expect(aboveLimit({ ...footer, rows: 60_000_000 }, parquetLimits)).toBe('60000000 rows')
    expect(aboveLimit({ ...footer, columns: 20_000 }, parquetLimits)).toBe('20000 columns')
    expect(aboveLimit({ ...footer, rows: 20_000_000 }, parquetLimits)).toBe('200000000 cells')
    expect(aboveLimit({ ...footer, unpackedBytes: 2 ** 31 }, parquetLimits)).toBe('2147483648 bytes unpacked')
    expect(aboveLimit({ ...footer, values: 2e8 }, parquetLimits)).toBe('200000000 cells')
    expect(aboveLimit({ ...footer, depth: 17 }, parquetLimits)).toBe('columns 17 groups deep')
    expect(aboveLimit({ ...footer, schemaElements: 40_000 }, parquetLimits)).toBe('40000 columns and groups')
    await expect(decodeParquet(file, 'the tests', { maxRows: 999 })).rejects.toMatchObject({ reason: 'size' })
  })

  it('of megabytes is refused', async () => {
    // A group of 600,000 column chunks of nothing.
    const chunks = Buffer.concat([
      Buffer.from([0x29, 0x1c, 0x35, 2, 0x15, 2, 0, 0x16, 0, 0x19, 0x1c, 0x19, 0xfc, 0xc0, 0xcf, 0x24]),
      Buffer.alloc(3_000_000, Buffer.from([0x3c, 0x56, 0, 0, 0])),
      Buffer.from([0, 0]),
    ])
    await expect(decodeParquet(withFooter(file, chunks), 'the tests')).rejects.toThrow(BadInput)
  })

  it('of any bytes is read or refused, never more', () => {
    let state = 1
    const good = fixture('small.parquet')
    for (let i = 0; i < 20_000; i++) {
      const bad = Uint8Array.from(good)
      for (let j = 0; j < 4; j++) {
        state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
        bad[bad.length - 9 - (state % 1500)] = state >> 16
      }
      const footer = readParquetFooter(bad)
      expect('failure' in footer || footer.rows >= 0).toBe(true)
    }
    const deep = Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(100_000, 0x1c), Buffer.alloc(4), Buffer.from('PAR1')])
    deep.writeUInt32LE(100_000, deep.length - 8)
    expect(readParquetFooter(deep)).toEqual({ failure: 'a Parquet footer that cannot be read' })
  })
})
