import { expect, it } from 'vitest'
import { encodeContentJson } from '../../../src/api/content-json.ts'
import type { ProtoContent } from '../../../src/messages/messages.ts'

const floats = (count: number) => new Float32Array(count)

it.each<[string, (elements: number) => ProtoContent]>([
  ['an array', (elements) => ({ field: 'ndarray', message: { floatValues: floats(elements) } })],
  ['a series', (elements) => ({ field: 'series', message: { floatValues: floats(elements) } })],
  ['a frame', (elements) => ({ field: 'dataframe', message: frameOf(elements) })],
  [
    'parts',
    (elements) => ({ field: 'multipart', message: { fields: new Map([['a', partOf(elements)]]) } }),
  ],
])('JSON of an answer has at most 250,000 elements: %s', (_, make) => {
  expect(JSON.parse(`${encodeContentJson(make(250_000))}`)).toHaveProperty(make(1).field)
  expect(() => encodeContentJson(make(250_001))).toThrow(
    /\(application\/proto takes more\), received 250001$/,
  )
})

function frameOf(elements: number) {
  return {
    columnNames: ['a', 'b'],
    columns: [{ floatValues: floats(elements - 1) }, { floatValues: floats(1) }],
  }
}

function partOf(elements: number): ProtoContent {
  return { field: 'ndarray', message: { floatValues: floats(elements) } }
}
