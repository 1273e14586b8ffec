/** What tests of the codecs of frames share. @module */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { type ColumnKind, dtypes } from '../../src/core/dtype.ts'
import { bytesAt, type Column, isValid } from '../../src/values/table/columns.ts'
import type { FrameLayout, ParsedFrame } from '../../src/values/table/json/frame-codec.ts'
import type { FrameText } from '../../src/values/table/json/frame-plan.ts'
import type { typescriptFrameCodec as typescript } from '../../src/values/table/json/native-codec.ts'

export const columnKinds = dtypes.filter((dtype): dtype is ColumnKind => dtype !== 'float16')
export const layouts = 'frame index split table series series-split'.split(' ') as FrameLayout[]
export const texts =
  'records columns values index split table series series-index series-split'.split(
    ' ',
  ) as FrameText['layout'][]

/** Returns a parse as plain data; `refused` for a failure, and for cells that are no JSON, which are found later. */
export function plain(parsed: ReturnType<typeof typescript.parseFrame>): unknown {
  try {
    return dataOf(parsed)
  } catch (error) {
    if (error instanceof SyntaxError) return 'refused'
    throw error
  }
}

/** Only a difference is for expect to show, which takes longer than what is tested. */
export function same(ours: unknown, theirs: unknown, name: string): void {
  if (!isDeepStrictEqual(ours, theirs)) expect(ours, name).toEqual(theirs)
}

export const textAt = (column: Column, row: number) => Buffer.from(bytesAt(column, row)).toString()

function dataOf(parsed: ReturnType<typeof typescript.parseFrame>): unknown {
  if ('failure' in parsed) return 'refused'
  const { table, labels, name, schema } = parsed as ParsedFrame
  const column = (one: (typeof table.columns)[number]) =>
    one.isJson
      ? Array.from(
          { length: table.rows },
          (_, row) => isValid(one, row) && JSON.parse(textAt(one, row)),
        )
      : {
          ...{ name: one.name, kind: one.kind, data: Buffer.from(one.data).toString('hex') },
          validity: one.validity && Buffer.from(one.validity).toString('hex'),
          offsets: one.offsets && [...one.offsets],
        }
  return {
    ...{
      name,
      schema: schema && JSON.parse(Buffer.from(schema.text).toString()),
      rows: table.rows,
    },
    ...{ columns: table.columns.map(column), labels: labels && column(labels) },
  }
}
