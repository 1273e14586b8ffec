import pl from 'nodejs-polars'
import { describe, expect, it } from 'vitest'
import type { FlatTable } from '../../../../src/values/array/flatbuffer.ts'
import { schemaFields } from '../../../../src/values/table/arrow/arrow-reader.ts'
import { arrowIds } from '../../../../src/values/table/arrow/arrow-types.ts'
import { findKeyValue, footerBytes } from '../../../../src/values/table/parquet/parquet-metadata.ts'
import { loadPolars } from '../../../../src/values/table/polars/polars.ts'
import type { DataFrame } from '../../../../src/values/table/polars/polars-package.ts'

// pyarrow 12.0.1, 14.0.2, 15.0.2, 16.1.0 and 20.0.0 read these files; before 15 it refuses a file with a type of views.
const polars = loadPolars('the tests')
const nestedOf = (times: number) => {
  const repeated = <T>(values: readonly T[]) => Array.from({ length: times }, () => values).flat()
  const texts = pl.DataFrame({
    'ARROW:schema': repeated(['x', 'é']),
    c: repeated(['p', 'q']),
    n: repeated([1, 2]),
  })
  return texts.withColumns(
    pl.concatList(['c', 'c']).alias('list'),
    pl.struct([pl.col('ARROW:schema'), pl.col('n')]).alias('struct'),
    pl.col('c').cast(pl.Categorical).alias('category'),
  )
}

function typesOf(file: Uint8Array): number[] {
  const inside = (field: FlatTable): number[] => [
    field.uint8(2),
    ...field.tables(5).flatMap(inside),
  ]
  const footer = footerBytes(file)
  const { start, size } = findKeyValue(footer, 'ARROW:schema') ?? { start: 0, size: 0 }
  const arrowSchema = footer.toString('latin1', start, start + size)
  return schemaFields(Buffer.from(arrowSchema, 'base64')).flatMap(inside)
}

describe('Parquet that Polars writes', () => {
  it.each([
    ['small', nestedOf(1)],
    ['large', nestedOf(40_000)],
    ['without rows', nestedOf(1).slice(0, 0)],
  ])('has no types that pyarrow before 15 does not know: %s', (_, frame: DataFrame) => {
    const file = polars.writeParquet(frame)
    const types = typesOf(file)
    expect(types).toContain(arrowIds.utf8)
    expect(types).not.toContain(arrowIds.utf8View)
    expect(types).not.toContain(arrowIds.binaryView)
    const read = polars.readParquet(file)
    expect(polars.variants(read)).toEqual(polars.variants(frame))
    expect(read.slice(0, 2).toRecords()).toEqual((frame as pl.DataFrame).slice(0, 2).toRecords())
  })

  it('calls bytes so', () => {
    const bytes = {
      name: 'b',
      kind: 'str' as const,
      isBinary: true as const,
      data: Buffer.from('ab'),
      offsets: Int32Array.of(0, 1, 2),
    }
    const lists = { name: 'l', offsets: Int32Array.of(0, 1), items: bytes }
    const types = typesOf(polars.writeParquet(polars.fromColumns({ rows: 1, columns: [lists] })))
    expect(types).toContain(arrowIds.binary)
    expect(types).not.toContain(arrowIds.binaryView)
  })
})
