import protobuf from 'protobufjs-8'
import { ServingError } from 'serving'
import { describe, expect, it } from 'vitest'
import { readInferRequest } from '../../src/oip/grpc-request.ts'
import { cutJson } from '../../src/oip/json-cut.ts'
import { requestsTo } from './requests.ts'
import { modelService } from './service.ts'

const { infer } = requestsTo(modelService())

const refused = (answer: { status: number; json<T>(): T }) => [answer.status, answer.json<{ error: string }>().error]

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
const repeated = (count: number, ...entry: number[]) => Buffer.alloc(count * entry.length, Buffer.from(entry))

describe('shapes', () => {
  it('of too many dimensions are refused by their number, which alone is told', async () => {
    const message = 'expected at most 64 dimensions for input "input", received 65'
    const shape = Array.from({ length: 65 }, () => 1)
    const answer = await infer('echo', [{ name: 'input', datatype: 'FP32', shape, data: [1] }])
    expect(refused(answer)).toEqual([400, message])
    const packed = field(3, repeated(65, 1))
    expect(grpcFault(tensor('FP32', packed))).toEqual(['INVALID_ARGUMENT', message])
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
