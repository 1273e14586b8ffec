import { expect, it } from 'vitest'
import { type AnyColumn, columnOf } from '../../src/values/table/columns.ts'
import type { FrameCodec } from '../../src/values/table/json/frame-codec.ts'
import { orients } from '../../src/values/table/json/frame-plan.ts'
import { nativeFrameCodec, typescriptFrameCodec } from '../../src/values/table/json/native-codec.ts'
import { describeNative } from '../native-only.ts'

const native = nativeFrameCodec as FrameCodec
const layouts = [...orients, 'series', 'series-index', 'series-split'] as const

describeNative('the native frame codec', () => {
  const listOf = (items: AnyColumn, offsets: readonly number[]): AnyColumn => ({
    name: 'l',
    offsets: Int32Array.from(offsets),
    validity: Uint8Array.of(0b101),
    items: { ...items, name: 'item' },
  })

  it('writes lists and structs of every kind as the TypeScript one does', () => {
    const names = columnOf('n "é"', 'str', ['a"', null, 'é', ''])
    const flat = [
      names,
      {
        ...names,
        isJson: true,
        data: Buffer.from('[1]{}"x"0'),
        offsets: Int32Array.of(0, 3, 5, 8, 9),
      },
      columnOf('f', 'float32', [0.1, Number.NaN, 1e30, -0]),
      columnOf('i', 'uint64', [2n ** 64n - 1n, 0, null, 3]),
      columnOf('b', 'bool', [true, false, null, true]),
    ] as const
    const struct: AnyColumn = { name: 's', validity: Uint8Array.of(0b1011), fields: flat }
    const table = {
      rows: 3,
      columns: [
        ...[...flat, struct].map((items) => listOf(items, [0, 2, 2, 4])),
        listOf(listOf(struct, [0, 1, 1, 4]), [0, 0, 1, 3]),
        { name: 'of', fields: [listOf(struct, [0, 3, 3, 4]), flat[2]] },
      ],
    }
    for (const layout of layouts) {
      const how = {
        layout,
        schema: '{}',
        labelKey: 'index',
        labels: columnOf('', 'str', ['x', 'y', 'z']),
      }
      const ours = Buffer.from(native.encodeFrame(table, how)).toString()
      expect(ours, layout).toBe(
        Buffer.from(typescriptFrameCodec.encodeFrame(table, how)).toString(),
      )
      JSON.parse(ours)
    }
    const one = { rows: 1, columns: [listOf(struct, [0, 1])] }
    const text = Buffer.from(native.encodeFrame(one, { layout: 'series' })).toString()
    expect(text).toBe(
      '[[{"n \\"é\\"":"a\\"","n \\"é\\"":[1],"f":0.1,"i":18446744073709551615,"b":true}]]',
    )
  })

  it('leaves what is very deep to the TypeScript one', () => {
    let column: AnyColumn = columnOf('', 'int64', [7])
    for (let i = 0; i < 1000; i++)
      column = { name: '', offsets: Int32Array.of(0, 1), items: column }
    const text = Buffer.from(
      native.encodeFrame({ rows: 1, columns: [column] }, { layout: 'series' }),
    )
    expect(text.toString()).toBe(`[${'['.repeat(1000)}7${']'.repeat(1000)}]`)
  })

  it('refuses lists whose offsets contradict themselves', () => {
    const items = columnOf('', 'int64', [1])
    for (const offsets of [[0, 9], [-1, 1], [2, 1], [0]]) {
      const table = { rows: 1, columns: [listOf(items, offsets)] }
      // The TypeScript codec stands in; what matters is that nothing is read outside.
      expect(() => native.encodeFrame(table, { layout: 'records' })).not.toThrow(/crash/)
    }
  })
})
