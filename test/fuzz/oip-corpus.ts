/**
 * Requests of the Open Inference Protocol for the fuzzer: JSON, binary tensors behind JSON, messages of gRPC.
 * @module
 */
import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs-8'
import type { FuzzRequest } from './corpora.ts'
import { below, oneOf, type Random, rebuilt, reworded, spoilt } from './mutator.ts'

interface Good {
  readonly model: string
  readonly json: Buffer
  /** The tensors behind the JSON. */
  readonly tail: Buffer
}

const length = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
const words = Buffer.concat([length(2), Buffer.from('ab'), length(0), length(3), Buffer.from('é!')])
const floats = Buffer.from(Float64Array.of(1, 2.5, -3, Number.NaN).buffer)

function good(
  model: string,
  inputs: readonly object[],
  tail: Buffer = Buffer.alloc(0),
  rest: object = {},
): Good {
  return { model, json: Buffer.from(JSON.stringify({ id: 'a', inputs, ...rest })), tail }
}

const input = (datatype: string, shape: number[], rest: object, name = 'input') => ({
  name,
  datatype,
  shape,
  ...rest,
})
const binary = (size: number) => ({ parameters: { binary_data_size: size } })
const outputs = [{ name: 'output', parameters: { binary_data: true, classification: 0 } }]

const goods: readonly Good[] = [
  good('ndarray', [input('FP64', [2, 2], { data: [1, 2.5, -3, 1e300] })]),
  good('ndarray', [input('INT64', [2], { data: [[9007199254740991], [-1]] })], undefined, {
    outputs,
  }),
  good('ndarray', [input('BYTES', [3], { data: ['a', 'é"\n', ''] })], undefined, {
    parameters: { a: 1, b: true },
  }),
  good('ndarray', [input('FP64', [2, 2], binary(32))], floats, { outputs }),
  good('ndarray', [input('BYTES', [3], binary(words.length))], words),
  good('ndarray', [input('BF16', [4], binary(8))], floats.subarray(0, 8), {
    parameters: { binary_data_output: true },
  }),
  good('ndarray_int16', [input('INT16', [2, 2], { data: [1, 2, 3, 4] })]),
  good('json_echo', [input('BYTES', [1], { data: ['{"a":[1,null]}'] })]),
  good('text', [input('BYTES', [1, 1], binary(6), 'text_input')], words.subarray(0, 6)),
  good(
    'frame_typed',
    [
      input('INT64', [2], binary(16), 'a'),
      input('FP32', [2], { data: [1, null] }, 'b'),
      input('BYTES', [2], binary(10), 's'),
    ],
    Buffer.concat([floats.subarray(0, 16), words.subarray(0, 10)]),
  ),
]
const generates = [
  '{"text_input":"hi","id":"1","parameters":{"k":1},"stop":["a"]}',
  '{"input":"{\\"a\\":1}"}',
].map(Buffer.from)

function spoiltWords(random: Random, body: Buffer, other: Buffer): Buffer {
  const how = random()
  if (body.length === 0 || how < 0.5) return reworded(random, body)
  return Buffer.from(how < 0.8 ? spoilt(random, body) : rebuilt(random, body, other))
}

/** Returns a broken request over REST: its JSON, its tensors or the length that the header says. */
export function oipBody(random: Random): FuzzRequest {
  const contentType = 'application/octet-stream'
  if (random() < 0.15) {
    const [body, other] = [oneOf(random, generates), oneOf(random, generates)]
    const path = `/v2/models/${oneOf(random, ['text', 'json_echo'])}/${oneOf(random, ['generate', 'generate_stream'])}`
    return { path, contentType, body: spoiltWords(random, body, other) }
  }
  const { model, json, tail } = oneOf(random, goods)
  const other = oneOf(random, goods)
  const how = random()
  const head = how < 0.5 ? spoiltWords(random, json, other.json) : json
  const rest = how >= 0.4 && tail.length > 0 ? Buffer.from(spoilt(random, tail)) : tail
  const body = Buffer.concat([head, rest])
  const told = random() < 0.8 ? head.length : below(random, body.length + 10) - 5
  const isTold = tail.length > 0 || random() < 0.3
  const headers: Record<string, string> = isTold
    ? { 'inference-header-content-length': String(told) }
    : {}
  return { path: `/v2/models/${model}/infer`, contentType, body, headers }
}

const proto = readFileSync(
  new URL('../../proto/inference/grpc_service.proto', import.meta.url),
  'utf8',
)
const type = protobuf
  .parse(proto, { keepCase: true })
  .root.lookupType('inference.ModelInferRequest')
const message = (value: object) => Buffer.from(type.encode(type.fromObject(value)).finish())
const typed = (name: string, datatype: string, shape: number[], contents: object) => ({
  name,
  datatype,
  shape,
  contents,
})

const messages: readonly Buffer[] = [
  message({
    model_name: 'ndarray',
    id: 'a',
    inputs: [{ name: 'input', datatype: 'FP64', shape: [2, 2] }],
    raw_input_contents: [floats],
  }),
  message({
    model_name: 'ndarray',
    inputs: [{ name: 'input', datatype: 'BYTES', shape: [3] }],
    outputs: [{ name: 'output', parameters: { classification: { int64_param: 1 } } }],
    raw_input_contents: [words],
  }),
  message({
    model_name: 'ndarray',
    inputs: [typed('input', 'FP64', [4], { fp64_contents: [1, 2, 3, 4] })],
  }),
  message({
    model_name: 'ndarray_int16',
    inputs: [typed('input', 'INT16', [1, 2], { int_contents: [1, 2] })],
  }),
  message({
    model_name: 'text',
    parameters: { a: { string_param: 'x' }, b: { int64_param: -1 } },
    inputs: [typed('text_input', 'BYTES', [1], { bytes_contents: [Buffer.from('hi')] })],
  }),
  message({
    model_name: 'frame_typed',
    inputs: [
      { name: 'a', datatype: 'INT64', shape: [2] },
      typed('b', 'FP32', [2], { fp32_contents: [1, 2] }),
      { name: 's', datatype: 'BYTES', shape: [2] },
    ],
    raw_input_contents: [floats.subarray(0, 16), words.subarray(0, 10)],
  }),
]

/** Returns a broken message over gRPC. */
export function oipMessage(random: Random): FuzzRequest {
  const [body, other] = [oneOf(random, messages), oneOf(random, messages)]
  const broken = random() < 0.6 ? spoilt(random, body) : rebuilt(random, body, other)
  return {
    path: '/inference.GRPCInferenceService/ModelInfer',
    contentType: undefined,
    body: broken,
  }
}
