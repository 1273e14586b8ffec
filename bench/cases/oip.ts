/**
 * The Open Inference Protocol: models that give their only input back, over REST and gRPC.
 * @module
 */
import { writePacked } from '../../src/messages/packed.ts'
import { ProtoWriter, readProto, wireType } from '../../src/messages/protobuf.ts'
import { type BenchCase, type CasePlan, echo, seeded } from './case.ts'

const lengthHeader = 'inference-header-content-length'
const rest = (model: string) => `/v2/models/${model}/infer`
const rpc = '/inference.GRPCInferenceService/ModelInfer'

function image() {
  const shape = [1, 3, 224, 224]
  const data = Float32Array.from({ length: shape.reduce((size, dim) => size * dim) }, seeded())
  return { shape, bytes: Buffer.from(data.buffer) }
}

/** JSON of numbers in, JSON out; every server writes numbers in its own way. */
function smallJson(): Omit<BenchCase, 'name'> {
  const data = [5.1, 3.5, 1.4, 0.2]
  const inputs = [{ name: 'input', shape: [1, 4], datatype: 'FP32', data }]
  return echo(rest('rows'), 'application/json', JSON.stringify({ inputs }), {
    isRight(answer) {
      const { outputs } = JSON.parse(answer.toString())
      const [{ name, shape, data: found }] = outputs
      const isNear = found
        .flat()
        .every((value: number, i: number) => Math.abs(value - data[i]) < 1e-6)
      return name === 'output' && String(shape) === '1,4' && isNear
    },
  })
}

/** A picture as a tensor, in binary form both ways. */
function binary(): Omit<BenchCase, 'name'> {
  const { shape, bytes } = image()
  const inputs = [
    { name: 'input', shape, datatype: 'FP32', parameters: { binary_data_size: bytes.length } },
  ]
  const json = Buffer.from(JSON.stringify({ inputs, parameters: { binary_data_output: true } }))
  return echo(rest('picture'), 'application/octet-stream', Buffer.concat([json, bytes]), {
    headers: { [lengthHeader]: String(json.length) },
    connections: 8,
    isRight: (answer) => answer.subarray(-bytes.length).equals(bytes),
  })
}

function grpc(
  model: string,
  shape: readonly number[],
  bytes: Buffer,
  connections: number,
): Omit<BenchCase, 'name'> {
  const writer = new ProtoWriter(bytes.length + 256)
  writer.text(1, model)
  writer.message(5, () => {
    writer.text(1, 'input')
    writer.text(2, 'FP32')
    writePacked(writer, 3, 'int64', BigInt64Array.from(shape, BigInt))
  })
  writer.tag(7, wireType.bytes).bytes(bytes)
  const isRight = (answer: Buffer) => rawOutput(answer).equals(bytes)
  return echo(rpc, 'application/grpc', writer.finish(), { connections, isRight })
}

/** The elements of the only output. */
function rawOutput(answer: Buffer): Buffer {
  return readProto(answer, (reader) => {
    let raw: Uint8Array = Buffer.alloc(0)
    while (reader.next()) {
      if (reader.field === 6 && reader.is(wireType.bytes)) raw = reader.bytes()
      else reader.skipField()
    }
    return Buffer.from(raw)
  })
}

/** The Open Inference Protocol. */
export const oipCases: readonly CasePlan[] = [
  {
    name: 'OIP REST: JSON 1×4',
    isQuick: true,
    contenders: ['bare', 'serving', 'mlserver', 'triton'],
    targets: { mlserver: 5, triton: 1 },
    make: smallJson,
  },
  {
    name: 'OIP REST: binary 3×224×224 float32',
    isQuick: true,
    contenders: ['bare', 'serving', 'mlserver', 'triton'],
    targets: { bare: 0.8, triton: 1 },
    make: binary,
  },
  {
    name: 'OIP gRPC: raw 1×4',
    isQuick: true,
    ours: 'serving, gRPC',
    contenders: ['bare, gRPC', 'serving, gRPC', 'mlserver, gRPC', 'triton, gRPC'],
    targets: { 'bare, gRPC': 0.7, 'mlserver, gRPC': 5, 'triton, gRPC': 1 },
    make: () => grpc('rows', [1, 4], Buffer.from(Float32Array.of(5.1, 3.5, 1.4, 0.2).buffer), 64),
  },
  {
    name: 'OIP gRPC: raw 3×224×224 float32',
    isQuick: true,
    ours: 'serving, gRPC',
    contenders: ['bare, gRPC', 'serving, gRPC', 'mlserver, gRPC', 'triton, gRPC'],
    targets: { 'bare, gRPC': 0.9, 'mlserver, gRPC': 5, 'triton, gRPC': 1 },
    make() {
      const { shape, bytes } = image()
      return grpc('picture', shape, bytes, 8)
    },
  },
]
