import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentToJson, decodeMessage } from '../../../src/messages/content-types.ts'
import {
  decodeResponse,
  encodeMessage,
  encodeRequest,
  encodeResponse,
  requestFromJson,
} from '../../../src/messages/envelope.ts'
import { fileDescriptors } from '../../../src/messages/gen/descriptors.ts'
import type { ProtoContent, ProtoField, ProtoMessages } from '../../../src/messages/messages.ts'
import { stock } from '../../stock-proto.ts'

const file = fileDescriptors.map(({ base64 }) =>
  fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, 'base64')),
)
const responseType = createFileRegistry(create(FileDescriptorSetSchema, { file })).getMessage(
  'serving.v1.Response',
) as DescMessage
const root = fileURLToPath(new URL('../../../', import.meta.url))
const content = <F extends ProtoField>(field: F, message: ProtoMessages[F]): ProtoContent => ({
  field,
  message,
})
/** One more round through both codecs, in the plain form that equality is about. */
const plain = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (_, item) =>
      typeof item === 'bigint'
        ? `${item}`
        : ArrayBuffer.isView(item)
          ? Array.from(item as Uint8Array, String)
          : item,
    ),
  )

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const uint32 = fc.nat({ max: 2 ** 32 - 1 })
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const float = fc.float({ noNaN: true }).map((value) => value + 0)
const double = fc.double({ noNaN: true })

const lists = {
  floatValues: fc.array(float).map((list) => Float32Array.from(list)),
  doubleValues: fc.array(double).map((list) => Float64Array.from(list)),
  stringValues: fc.array(fc.string({ unit: 'grapheme' })),
  boolValues: fc.array(fc.boolean()).map((list) => Uint8Array.from(list, Number)),
  int32Values: fc.array(int32).map((list) => Int32Array.from(list)),
  int64Values: fc.array(int64).map((list) => BigInt64Array.from(list)),
  uint32Values: fc.array(uint32).map((list) => Uint32Array.from(list)),
  uint64Values: fc.array(uint64).map((list) => BigUint64Array.from(list)),
}
const uint32s = fc.array(uint32).map((list) => Uint32Array.from(list))
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value))
const labelled = ([message, index]: object[]) => ({ ...message, index })
const ndarray = fc.record({
  dtype: fc.integer({ min: 0, max: 8 }),
  shape: fc.array(int32, { maxLength: 5 }),
  ...lists,
  scalar: fc.constant(true),
})

/** As protobufjs wants a message: lists of numbers, 64-bit ones as strings that its Long reads. */
function forStock(message: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(message).map(([name, value]) => {
      if (!ArrayBuffer.isView(value)) return [name, value]
      const isBig = value instanceof BigInt64Array || value instanceof BigUint64Array
      const list = Array.from(value as unknown as ArrayLike<number | bigint>)
      return [name, isBig ? list.map(longOf) : name === 'boolValues' ? list.map(Boolean) : list]
    }),
  )
}

const longOf = (value: number | bigint) => {
  const bits = BigInt.asUintN(64, BigInt(value))
  return {
    low: Number(BigInt.asIntN(32, bits)),
    high: Number(BigInt.asIntN(32, bits >> 32n)),
    unsigned: false,
  }
}

describe('our protobuf codec and protobufjs', () => {
  it('write the same bytes of an NDArray', () => {
    fc.assert(
      fc.property(ndarray, (message) => {
        const wanted = stock.NDArray.encode(forStock(message)).finish()
        expect(Buffer.from(encodeMessage(content('ndarray', message))).equals(wanted)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('read the same values from an NDArray', () => {
    fc.assert(
      fc.property(ndarray, (message) => {
        const bytes = stock.Response.encode({ ndarray: forStock(message) as never }).finish()
        const read = decodeResponse(bytes)?.message as Record<string, ArrayLike<unknown>>
        for (const name of Object.keys(lists) as (keyof typeof lists)[]) {
          expect(plain(read[name] ?? [])).toEqual(plain(message[name]))
        }
        expect([read.shape ?? [], read.scalar]).toEqual([message.shape, true])
      }),
      { numRuns: 300 },
    )
  })

  it('agree on long lists of integers of every length in bytes', () => {
    const long = { minLength: 100, maxLength: 300 }
    const bits = (width: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(width) - 1n })
    const some = fc
      .tuple(bits(64), fc.nat({ max: 63 }), fc.boolean())
      .map(([value, shift, isNegative]) =>
        isNegative ? -(value >> BigInt(shift)) : value >> BigInt(shift),
      )
    fc.assert(
      fc.property(fc.array(some, long), (values) => {
        const message = {
          int32Values: Int32Array.from(values, (value) => Number(BigInt.asIntN(32, value))),
          int64Values: BigInt64Array.from(values),
          uint32Values: Uint32Array.from(values, (value) => Number(BigInt.asUintN(32, value))),
          uint64Values: BigUint64Array.from(values),
        }
        const wanted = stock.NDArray.encode(forStock(message)).finish()
        const bytes = encodeMessage(content('ndarray', message))
        expect(Buffer.from(bytes).equals(wanted)).toBe(true)
        expect(decodeMessage('ndarray', bytes)).toEqual(message)
        // As numbers that are longer than they need be, too: ten bytes for all.
        const padded = values.flatMap((value) => {
          const all = BigInt.asUintN(64, value)
          return Array.from(
            { length: 10 },
            (_, i) => Number((all >> BigInt(i * 7)) & 0x7fn) | (i < 9 ? 0x80 : 0),
          )
        })
        const head = Buffer.from([0x42, (padded.length & 0x7f) | 0x80, padded.length >> 7])
        expect(decodeMessage('ndarray', Buffer.concat([head, Buffer.from(padded)]))).toEqual({
          int64Values: message.int64Values,
        })
      }),
    )
  })

  it('answer long lists as views of the message, wherever it lies', () => {
    const message = {
      shape: [1500],
      floatValues: Float32Array.from({ length: 1500 }, (_, i) => i / 8),
      doubleValues: Float64Array.from({ length: 1500 }, (_, i) => -i / 8),
    }
    const bytes = encodeMessage(content('ndarray', message))
    for (let at = 0; at < 16; at++) {
      const memory = new Uint8Array(at + bytes.length).fill(7)
      memory.set(bytes, at)
      const read = decodeMessage('ndarray', memory.subarray(at)) as typeof message
      expect(read).toEqual(message)
      expect(read.floatValues.buffer).toBe(memory.buffer)
      expect(memory.subarray(0, at)).toEqual(new Uint8Array(at).fill(7))
    }
  })

  it('write text with half a surrogate pair as UTF-8', () => {
    for (const text of ['a\ud800', `${'é'.repeat(50)}\udc00`]) {
      const bytes = encodeMessage(content('text', text))
      expect(decodeMessage('text', bytes)).toBe(text.toWellFormed())
    }
  })

  it('read numbers that come one by one, or in several packed pieces', () => {
    // float_values: 1.5 alone, then [2, 3] packed; int32_values: 1 alone, then [-1] packed, then 300 alone.
    const hex =
      '1d0000c03f' + '1a080000004000004040' + '3801' + '3a0affffffffffffffffff01' + '38ac02'
    const bytes = Buffer.concat([Buffer.from([0x0a, hex.length / 2]), Buffer.from(hex, 'hex')])
    expect(decodeResponse(bytes)?.message).toEqual({
      floatValues: Float32Array.of(1.5, 2, 3),
      int32Values: Int32Array.of(1, -1, 300),
    })
    expect(stock.Response.decode(bytes)).toMatchObject({ ndarray: { int32Values: [1, -1, 300] } })
  })

  it('read dimensions that come one by one, or in several packed pieces, and refuse broken and too many ones', () => {
    // shape: 2 alone, then [300, -1] packed, then nothing packed, then 7 alone.
    const read = (hex: string) => decodeMessage('ndarray', Buffer.from(hex, 'hex'))
    const hex = `1002${'120cac02ffffffffffffffffff01'}${'1200'}1007`
    expect(read(hex)).toEqual({ shape: [2, 300, -1, 7] })
    expect(plain(stock.NDArray.decode(Buffer.from(hex, 'hex')))).toMatchObject({
      shape: [2, 300, -1, 7],
    })
    expect(read('1200')).toEqual({ shape: undefined })
    expect(() => read('1201ff1001')).toThrow(
      'expected complete packed numbers in the protobuf message',
    )
    expect(() => read(`12810800${'01'.repeat(1024)}`)).toThrow(
      'expected at most 1024 dimensions, received more',
    )
    expect(read(`12800800${'01'.repeat(1023)}`)).toEqual({ shape: [0, ...new Array(1023).fill(1)] })
  })

  it('agree on JSON values', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const wanted = JSON.parse(JSON.stringify(value))
        const bytes = encodeMessage(content('json', wanted))
        expect(fromStockValue(stock.Value.decode(bytes))).toEqual(wanted)
        expect(decodeResponse(encodeResponse(content('json', wanted)))?.message).toEqual(wanted)
      }),
    )
  })

  it('agree with the JSON mapping of @bufbuild/protobuf, read and written', () => {
    const series = fc.record(
      { ...lists, nullPositions: uint32s, name: fc.string() },
      { requiredKeys: [] },
    )
    const contents = fc.oneof(
      fc.record({ field: fc.constant('ndarray' as const), message: ndarray }),
      fc.record({
        field: fc.constant('series' as const),
        message: fc.tuple(series, series).map(labelled),
      }),
      fc.record({
        field: fc.constant('dataframe' as const),
        message: fc.record({
          columnNames: lists.stringValues,
          columns: fc.array(series),
          index: series,
        }),
      }),
      fc.record({
        field: fc.constant('file' as const),
        message: fc.record(
          { kind: fc.string(), content: fc.uint8Array(), name: fc.string() },
          { requiredKeys: [] },
        ),
      }),
      fc.record({ field: fc.constant('text' as const), message: fc.string() }),
      fc.record({ field: fc.constant('serialized_bytes' as const), message: fc.uint8Array() }),
      fc.record({
        field: fc.constant('json' as const),
        message: fc.jsonValue({ maxDepth: 3 }).map(asJson),
      }),
    )
    const form = contents.map((part) =>
      content('multipart', { fields: new Map([['__proto__', part]]) }),
    )
    fc.assert(
      fc.property(fc.oneof(contents, form), (any) => {
        const bytes = encodeResponse(any as ProtoContent)
        const ours = asJson(contentToJson(decodeResponse(bytes) as ProtoContent))
        // Theirs reads what we write, and means the same bytes.
        expect(
          Buffer.from(toBinary(responseType, fromJson(responseType, ours as JsonValue))).equals(
            bytes,
          ),
        ).toBe(true)
        // And the other way round.
        const theirs = toJson(responseType, fromBinary(responseType, bytes)) as object
        const { content: read } = requestFromJson(theirs)
        expect(Buffer.from(encodeResponse(read as ProtoContent)).equals(bytes)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('agree on requests, frames, files and forms', () => {
    const request = encodeRequest(
      'f',
      content('file', { kind: 'a/b', content: Buffer.from('x'), name: 'n' }),
    )
    expect(stock.Request.decode(request)).toMatchObject({
      apiName: 'f',
      file: { kind: 'a/b', name: 'n' },
    })
    const series = {
      stringValues: ['a', ''],
      nullPositions: Uint32Array.of(1),
      index: { int64Values: BigInt64Array.of(7n, 8n) },
    }
    const frame = content('dataframe', {
      columnNames: ['é'],
      columns: [series],
      index: { stringValues: ['x', 'y'] },
    })
    expect(decodeResponse(encodeResponse(frame))).toEqual(frame)
    expect(stock.Response.decode(encodeResponse(frame))).toMatchObject({
      dataframe: {
        columnNames: ['é'],
        columns: [{ stringValues: ['a', ''], nullPositions: [1] }],
      },
    })
    const form = content('multipart', {
      fields: new Map([['p', content('text', 't'.repeat(300))]]),
    })
    expect(decodeResponse(encodeResponse(form))).toEqual(form)
    expect(stock.Response.decode(encodeResponse(form))).toMatchObject({
      multipart: {
        fields: {
          p: {
            text: { value: 't'.repeat(300) },
          },
        },
      },
    })
  })
})

interface StockValue {
  readonly structValue?: { readonly fields: Readonly<Record<string, StockValue>> }
  readonly listValue?: { readonly values: readonly StockValue[] }
  readonly numberValue?: number
  readonly stringValue?: string
  readonly boolValue?: boolean
}

function fromStockValue(value: StockValue): unknown {
  if (value.structValue) {
    const entries = Object.entries(value.structValue.fields)
    return Object.fromEntries(entries.map(([key, item]) => [key, fromStockValue(item)]))
  }
  if (value.listValue) return value.listValue.values.map(fromStockValue)
  if (Object.hasOwn(value, 'numberValue')) return value.numberValue
  if (Object.hasOwn(value, 'stringValue')) return value.stringValue
  return Object.hasOwn(value, 'boolValue') ? value.boolValue : null
}

describe('the generated files', () => {
  it('are what proto/generate.mjs makes', () => {
    expect(() =>
      execFileSync(process.execPath, ['proto/generate.mjs', '--check'], { cwd: root }),
    ).not.toThrow()
  })
})
