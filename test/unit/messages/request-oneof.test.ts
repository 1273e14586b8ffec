import { describe, expect, it } from 'vitest'
import { decodeMessage } from '../../../src/messages/content-types.ts'
import { decodeRequest, encodeMessage } from '../../../src/messages/envelope.ts'
import { stock } from '../../stock-proto.ts'

describe('the oneof of a request', () => {
  it('lets serialized bytes win, wherever they stand', () => {
    const text = Buffer.from(stock.Request.encode({ text: { value: 'x' } }).finish())
    const bytes = Buffer.from(stock.Request.encode({ serializedBytes: Buffer.from('b') }).finish())
    for (const both of [Buffer.concat([text, bytes]), Buffer.concat([bytes, text])]) {
      expect(decodeRequest(both).content).toMatchObject({
        field: 'serialized_bytes',
        bytes: Buffer.from('b'),
      })
    }
  })

  it('lets the last of other members win, and merges one that comes twice', () => {
    const first = stock.Request.encode({ ndarray: { floatValues: [1] } }).finish()
    const second = stock.Request.encode({ ndarray: { floatValues: [2], dtype: 1 } }).finish()
    const text = stock.Request.encode({ text: { value: 'x' } }).finish()
    expect(decodeRequest(Buffer.concat([text, first])).content?.field).toBe('ndarray')
    const merged = decodeRequest(Buffer.concat([first, second])).content
    expect(stock.NDArray.decode(merged?.bytes as Uint8Array)).toMatchObject({
      floatValues: [1, 2],
      dtype: 1,
    })
  })

  // The tag of an empty member, and its length 0.
  it.each([
    ['one member', [0x1a, 0]],
    ['several in turn', [0x1a, 0, 0x4a, 0]],
    ['unknown ones', [0x7a, 0]],
    ['the name of the API', [0x0a, 0]],
  ])('refuses a request of thousands of fields: %s', (_, fields) => {
    const times = (count: number) =>
      Buffer.concat(Array(count / fields.length).fill(Buffer.from(fields)))
    expect(() => decodeRequest(times(2000))).not.toThrow()
    expect(() => decodeRequest(times(2004))).toThrow(
      /^expected at most 1000 fields .* received more/,
    )
  })

  it('merges the structs and lists of a JSON value, however often they come', () => {
    const times = (field: readonly number[]) =>
      Buffer.concat(Array(100_000).fill(Buffer.from(field)))
    expect(decodeMessage('json', times([0x2a, 0]))).toEqual({})
    expect(decodeMessage('json', times([0x32, 2, 0x0a, 0]))).toEqual(Array(100_000).fill(null))
    expect(decodeMessage('json', times([0x1a, 0]))).toBe('')
  })

  it('joins the lists of a JSON value', () => {
    const twice = Buffer.concat(
      [[1, 2], [3]].map((list) => encodeMessage({ field: 'json', message: list })),
    )
    expect(decodeMessage('json', twice)).toEqual([1, 2, 3])
  })
})
