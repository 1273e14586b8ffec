import { describe, expect, it } from 'vitest'
import { decodeArrow } from '../../../../../src/values/table/arrow/arrow-reader.ts'
import { encodeArrow } from '../../../../../src/values/table/arrow/arrow-writer.ts'
import type { Column } from '../../../../../src/values/table/columns.ts'

const bytesOf = (data: ArrayBufferView) =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength)

describe('an Arrow file', () => {
  it('keeps the names, kinds and values of its columns', () => {
    const columns: Column[] = [
      { name: '\ufeffé', kind: 'float64', data: bytesOf(Float64Array.of(0.5, -1)) },
      { name: '', kind: 'uint8', data: Uint8Array.of(1, 255), validity: Uint8Array.of(2) },
      {
        name: 'é'.repeat(3000),
        kind: 'str',
        data: Buffer.from('ab'),
        offsets: Int32Array.of(0, 0, 2),
      },
    ]
    const read = decodeArrow(encodeArrow({ rows: 2, columns }, Buffer.allocUnsafe))
    expect(read?.rows).toBe(2)
    for (const [i, column] of columns.entries()) {
      expect(read?.columns[i]).toMatchObject({ name: column.name, kind: column.kind })
      const own = read?.columns[i] as Column
      expect(Buffer.from(own.data).equals(column.data)).toBe(true)
      expect(own.validity?.[0]).toBe(column.validity?.[0])
      expect(own.offsets).toEqual(column.offsets)
    }
  })

  it('holds no bytes of the file before it', () => {
    const table = (name: string) => ({
      rows: 1,
      columns: [{ name, kind: 'int8' as const, data: Uint8Array.of(1) }],
    })
    const alone = encodeArrow(table('a'), Buffer.allocUnsafe)
    encodeArrow(table('secret'.repeat(50)), Buffer.allocUnsafe)
    expect(encodeArrow(table('a'), Buffer.allocUnsafe).equals(alone)).toBe(true)
  })
})
