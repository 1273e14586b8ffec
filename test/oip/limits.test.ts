import protobuf from 'protobufjs-8'
import { ServingError } from 'serving'
import { describe, expect, it } from 'vitest'
import { cutJson } from '../../src/core/text/json-cut.ts'
import { readInferRequest } from '../../src/protocols/oip/grpc-request.ts'
import { bytes, requestsTo, texts } from './requests.ts'
import { modelService } from './service.ts'

const { post, infer, binary } = requestsTo(modelService())

const refused = (answer: { status: number; json<T>(): T }) => [
  answer.status,
  answer.json<{ error: string }>().error,
]

/** Returns the code and message that a gRPC request is refused with. */
function grpcFault(message: Uint8Array): unknown {
  try {
    readInferRequest(Buffer.from(message)).read()
  } catch (error) {
    return ServingError.is(error) ? [error.grpc, error.message] : error
  }
  return undefined
}

const varint = (value: number) => {
  const writer = new protobuf.Writer()
  return Buffer.from(writer.uint32(value).finish())
}
const field = (number: number, ...content: Uint8Array[]) => {
  const whole = Buffer.concat(content)
  return Buffer.concat([varint((number << 3) | 2), varint(whole.length), whole])
}
const tensor = (datatype: string, ...rest: Uint8Array[]) =>
  field(5, field(1, Buffer.from('input')), field(2, Buffer.from(datatype)), ...rest)
const repeated = (count: number, ...entry: number[]) =>
  Buffer.alloc(count * entry.length, Buffer.from(entry))

describe('shapes', () => {
  it('of too many dimensions are refused by their number, which alone is told', async () => {
    const message = 'expected at most 64 dimensions for input "input", received 65'
    const shape = Array.from({ length: 65 }, () => 1)
    const answer = await infer('echo', [{ name: 'input', datatype: 'FP32', shape, data: [1] }])
    expect(refused(answer)).toEqual([400, message])
    const packed = field(3, repeated(65, 1))
    expect(grpcFault(tensor('FP32', packed))).toEqual(['INVALID_ARGUMENT', message])
    const long = 'expected at most 640 dimensions, received more'
    expect(grpcFault(tensor('FP32', field(3, repeated(641, 1))))).toEqual([
      'INVALID_ARGUMENT',
      long,
    ])
    expect(grpcFault(tensor('FP32', repeated(641, 0x18, 1)))).toEqual(['INVALID_ARGUMENT', long])
  })
})

describe('JSON beside the data', () => {
  it('is refused once more than its limit has been seen: what is behind that is not read', () => {
    // Without an end to the string, which whoever reads on finds.
    const long = `{"x":[${'[],'.repeat(400_000)}`
    const read = () => cutJson(Buffer.from(long), { of: 'inputs', names: ['data'] })
    expect(read).toThrow('expected at most 1048576 bytes of JSON beside the data, received more')
  })
})

describe('classification', () => {
  const classes = (count: number) => ({
    outputs: [{ name: 'output', parameters: { classification: count } }],
  })
  const classified = async (datatype: string, shape: number[], data: unknown[], count: number) => {
    const answer = await infer('echo', [{ name: 'input', datatype, shape, data }], classes(count))
    return answer.json<{ outputs: { shape: number[]; data: string[] }[] }>().outputs[0]
  }

  it.each([1, 2, 7, 100, 300, 1000])(
    'finds the %i greatest, the first of equal ones first',
    async (count) => {
      for (const datatype of ['FP32', 'INT16', 'FP16', 'INT64']) {
        // Multiples that repeat after 256: neither sorted nor distinct.
        const data = Array.from({ length: 600 }, (_, i) => ((i * 197) % 256) - 100)
        const rows = [data.slice(0, 300), data.slice(300)]
        const print = (value: number) =>
          datatype.startsWith('FP') ? value.toFixed(6) : String(value)
        const expected = rows.flatMap((row) =>
          row
            .map((value, i) => ({ value, i }))
            .sort((a, b) => b.value - a.value || a.i - b.i)
            .slice(0, count)
            .map(({ value, i }) => `${print(value)}:${i}`),
        )
        const output = await classified(datatype, [2, 300], data, count)
        expect(output).toMatchObject({ shape: [2, Math.min(count, 300)], data: expected })
      }
    },
  )

  it('puts NaN last', async () => {
    const body = `{"inputs":[{"name":"input","datatype":"FP32","shape":[4],"data":[NaN,1,NaN,2]}],
      "outputs":[{"name":"output","parameters":{"classification":4}}]}`
    const answer = await post('/v2/models/echo/infer', body)
    expect(answer.json()).toMatchObject({
      outputs: [{ data: ['2.000000:3', '1.000000:1', 'NaN:0', 'NaN:2'] }],
    })
  })

  it('is refused for more classes, elements and texts than their limits', async () => {
    const ask = (size: number, shape: readonly number[], count: number) => {
      const inputs = [
        { name: 'input', datatype: 'INT8', shape, parameters: { binary_data_size: size } },
      ]
      return binary('echo', { inputs, ...classes(count) }, [Buffer.alloc(size)])
    }
    const tooMany =
      'expected a whole number up to 1000 for classification of output "output", received 1001'
    expect(refused(await ask(10, [10], 1001))).toEqual([400, tooMany])
    expect((await ask(2_500_000, [2_500_000], 1000)).status).toBe(200)
    const elements = 'expected at most 2500000 elements to classify in an answer, received more'
    expect(refused(await ask(2_500_001, [2_500_001], 1))).toEqual([413, elements])
    const rows = `expected at most 100000 classes in an answer, received more`
    expect(refused(await ask(100_001, [100_001, 1], 1))).toEqual([413, rows])
  })
})

describe('texts', () => {
  const message = 'expected at most 100000 elements of BYTES in a request, received more'
  const count = 100_001
  const input = { name: 'input', datatype: 'BYTES', shape: [count] }
  const list = `[${'"",'.repeat(count - 1)}""]`

  it('of a request are refused above a number', async () => {
    const inputs = [{ ...input, parameters: { binary_data_size: 4 * count } }]
    expect(refused(await binary('words', { inputs }, [Buffer.alloc(4 * count)]))).toEqual([
      413,
      message,
    ])
    const json = `{"inputs":[{"name":"input","datatype":"BYTES","shape":[${count}],"data":${list}}]}`
    expect(refused(await post('/v2/models/words/infer', json))).toEqual([413, message])
    expect(refused(await post('/v2/models/words/generate', `{"input":${list}}`))).toEqual([
      413,
      message,
    ])
    const half = {
      ...input,
      shape: [count >> 1],
      parameters: { binary_data_size: 2 * (count - 1) },
    }
    const several = ['a', 'b', 'c'].map((name) => ({ ...half, name }))
    const tail = Buffer.alloc(6 * (count - 1))
    expect(refused(await binary('words', { inputs: several }, [tail]))).toEqual([413, message])
  })

  it('over gRPC are refused above a number', () => {
    const dims = field(3, varint(count))
    const name = field(1, Buffer.from('words'))
    const raw = Buffer.concat([name, tensor('BYTES', dims), field(7, Buffer.alloc(4 * count))])
    expect(grpcFault(raw)).toEqual(['RESOURCE_EXHAUSTED', message])
    const contents = Buffer.concat([
      name,
      tensor('BYTES', dims, field(5, repeated(count, 0x42, 0))),
    ])
    expect(grpcFault(contents)).toEqual(['RESOURCE_EXHAUSTED', message])
  })

  it('of generate are refused above a number of bytes', async () => {
    const body = (length: number) => `{"text_input":"${'a'.repeat(length - 17)}"}`
    const message =
      'expected at most 4194304 bytes for a generate request, as infer takes more, received 4194305'
    expect(refused(await post('/v2/models/spell/generate', body(4_194_305)))).toEqual([
      413,
      message,
    ])
  })

  it('are read up to that number, of generate, too', async () => {
    const answer = await post(
      '/v2/models/words/generate',
      `{"input":[${'"ü",'.repeat(99_999)}"\\n"]}`,
    )
    const { output } = answer.json<{ output: string[] }>()
    expect([output.length, output[0], output[99_999]]).toEqual([100_000, 'ü!', '\n!'])
    const inputs = [{ ...input, shape: [3], parameters: { binary_data_size: 21 } }]
    const plain = await binary('words', { inputs }, [texts('', '\ufffd', 'añ\ufeff')])
    expect(plain.json()).toMatchObject({ outputs: [{ data: ['!', '\ufffd!', 'añ\ufeff!'] }] })
    const wrong = await binary(
      'words',
      { inputs: [{ ...inputs[0], shape: [1], parameters: { binary_data_size: 5 } }] },
      [Buffer.from([1, 0, 0, 0, 0xff])],
    )
    expect(refused(wrong)[1]).toContain('expected UTF-8 text for an element of input "input"')
  })
})

describe('gRPC messages', () => {
  const fields =
    'expected at most 110000 fields (numbers packed) in the protobuf message, received more'

  it.each([
    ['numbers that are not packed', tensor('INT32', field(5, repeated(110_000, 0x10, 1)))],
    ['pieces of packed numbers', tensor('INT32', field(5, repeated(110_000, 0x12, 1, 1)))],
    ['contents', tensor('INT32', repeated(110_000, 0x2a, 0))],
    ['names', repeated(110_001, 0x0a, 0)],
    ['unknown fields', repeated(110_001, 0x78, 0)],
  ])('of too many fields are refused: %s', (_, message) => {
    expect(grpcFault(message)).toEqual(['RESOURCE_EXHAUSTED', fields])
  })

  it('of too many parameters are refused', () => {
    const message = repeated(1001, 0x22, 4, 0x12, 2, 0x08, 1)
    expect(grpcFault(message)).toEqual([
      'INVALID_ARGUMENT',
      'expected at most 1000 parameters, received more',
    ])
  })

  it('of too many integers are refused before they are read', () => {
    const message =
      'expected at most 2000000 packed integers (more: as bytes) in the protobuf message, received more'
    const shape = field(3, varint(2_000_001))
    // Without an end to the last number, which whoever reads it finds.
    const packed = (number: number, count: number) =>
      tensor('INT64', shape, field(5, field(number, repeated(count, 1), Buffer.of(0x80))))
    for (const number of [1, 2, 3, 4, 5]) {
      expect(grpcFault(packed(number, 2_000_001))).toEqual(['RESOURCE_EXHAUSTED', message])
    }
    expect(grpcFault(packed(3, 10))).not.toEqual(['RESOURCE_EXHAUSTED', message])
    const floats = tensor('FP32', shape, field(5, field(6, bytes(new Float32Array(2_000_001)))))
    expect(grpcFault(Buffer.concat([field(1, Buffer.from('echo')), floats]))).toBeUndefined()
  })
})
