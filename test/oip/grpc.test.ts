import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import protobuf from 'protobufjs-8'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { start } from '../rpc/harness.ts'
import { asIs, modelClient } from './grpc-client.ts'
import { bytes, texts } from './requests.ts'
import { modelService } from './service.ts'

const client = await modelClient()

// protobufjs's own messages of the .proto, so that no code of ours encodes what our code decodes.
const proto = readFileSync(
  new URL('../../proto/inference/grpc_service.proto', import.meta.url),
  'utf8',
)
const { root } = protobuf.parse(proto, { keepCase: true })
const type = (name: string) => root.lookupType(`inference.${name}`)
type Message = Record<string, never>

const path = (method: string) => `/inference.GRPCInferenceService/${method}`
const encoded = (name: string, message: object) =>
  Buffer.from(type(name).encode(type(name).fromObject(message)).finish())
const decoded = (name: string, buffer: Buffer) =>
  type(name).toObject(type(name).decode(buffer), { longs: String, defaults: true }) as Message

function call(method: string, message: object = {}): Promise<Message> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path(method),
      asIs,
      asIs,
      encoded(`${method}Request`, message),
      (error, answer) =>
        error === null ? resolve(decoded(`${method}Response`, answer as Buffer)) : reject(error),
    )
  })
}

async function refusal(method: string, message: object): Promise<[number, string]> {
  try {
    await call(method, message)
  } catch (error) {
    return [(error as ServiceError).code, (error as ServiceError).details]
  }
  throw new Error('expected an error')
}

/** Sends messages on one stream and returns all answers, and the status of an error. */
function stream(
  messages: readonly object[],
  headers: Record<string, string> = {},
): Promise<Message[]> {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  const duplex = client.makeBidiStreamRequest(path('ModelStreamInfer'), asIs, asIs, metadata)
  const answers: Message[] = []
  return new Promise((resolve, reject) => {
    duplex.on('data', (buffer: Buffer) => answers.push(decoded('ModelStreamInferResponse', buffer)))
    duplex.on('error', reject)
    duplex.on('end', () => resolve(answers))
    for (const message of messages) duplex.write(encoded('ModelInferRequest', message))
    duplex.end()
  })
}

const raw = (values: Float32Array) => ({
  model_name: 'double',
  inputs: [{ name: 'input', datatype: 'FP32', shape: [values.length / 2, 2] }],
  raw_input_contents: [bytes(values)],
})
const spell = (text: string, parameters = {}) => ({
  model_name: 'spell',
  id: text,
  parameters,
  inputs: [
    {
      name: 'text_input',
      datatype: 'BYTES',
      shape: [1],
      contents: { bytes_contents: [Buffer.from(text)] },
    },
  ],
})

describe('the Open Inference Protocol over gRPC', () => {
  it('lets clients send messages of megabytes without waiting for it', async () => {
    const listener = await start(modelService())
    onTestFinished(() => listener.close())
    const session = connect(`http://127.0.0.1:${listener.grpcPort}`)
    onTestFinished(() => session.destroy())
    const wide = 4 * 1024 * 1024
    await vi.waitFor(() => {
      expect(session.remoteSettings.initialWindowSize).toBe(wide)
      expect(session.state.remoteWindowSize).toBe(wide)
    })
  })

  it('tells about the server and its models', async () => {
    expect(await call('ServerLive')).toEqual({ live: true })
    expect(await call('ServerReady')).toEqual({ ready: true })
    expect(await call('ServerMetadata')).toMatchObject({ name: 'serving' })
    expect(await call('ModelReady', { name: 'double' })).toEqual({ ready: true })
    expect(await call('ModelReady', { name: 'none' })).toEqual({ ready: false })
    expect(await call('ModelMetadata', { name: 'double' })).toMatchObject({
      name: 'double',
      versions: ['1'],
      inputs: [{ name: 'input', datatype: 'FP32', shape: ['-1', '2'] }],
    })
    expect(await call('ModelConfig', { name: 'double', version: '1' })).toMatchObject({
      config: { name: 'double', input: [{ name: 'input', data_type: 11, dims: ['-1', '2'] }] },
    })
    expect((await call('RepositoryIndex')).models).toContainEqual({
      name: 'double',
      version: '1',
      state: 'READY',
      reason: '',
    })
    expect(await call('RepositoryModelLoad', { model_name: 'double' })).toEqual({})
  })

  it('answers raw contents with raw contents, at every size', async () => {
    for (const rows of [1, 3, 50_000]) {
      const values = Float32Array.from({ length: rows * 2 }, (_, i) => i / 8)
      const answer = await call('ModelInfer', { ...raw(values), id: 'a' })
      expect(answer).toMatchObject({ model_name: 'double', model_version: '1', id: 'a' })
      expect(answer.outputs).toMatchObject([
        { name: 'output', datatype: 'FP32', shape: [String(rows), '2'] },
      ])
      const [contents] = answer.raw_output_contents as Buffer[]
      expect(contents.equals(bytes(values.map((value) => value * 2)))).toBe(true)
    }
  })

  it.each([
    ['BOOL', 'bool_contents', [true, false], [1, 0]],
    ['INT8', 'int_contents', [-128, 127], [128, 127]],
    ['INT32', 'int_contents', [-2], [254, 255, 255, 255]],
    ['INT64', 'int64_contents', ['-1'], [255, 255, 255, 255, 255, 255, 255, 255]],
    ['UINT16', 'uint_contents', [65535], [255, 255]],
    ['UINT64', 'uint64_contents', ['1'], [1, 0, 0, 0, 0, 0, 0, 0]],
    ['FP32', 'fp32_contents', [1], [0, 0, 128, 63]],
    ['FP64', 'fp64_contents', [2], [0, 0, 0, 0, 0, 0, 0, 64]],
    ['BYTES', 'bytes_contents', [Buffer.from('é')], [...texts('é')]],
  ])('takes typed contents of %s', async (datatype, field, values, expected) => {
    const inputs = [
      { name: 'input', datatype, shape: [values.length], contents: { [field]: values } },
    ]
    const answer = await call('ModelInfer', { model_name: 'echo', inputs })
    expect([...(answer.raw_output_contents as Buffer[])[0]]).toEqual(expected)
  })

  it('takes raw and typed contents in one request, as kserve sends them', async () => {
    const inputs = [
      {
        name: 'b',
        datatype: 'BYTES',
        shape: [1],
        contents: { bytes_contents: [Buffer.from('hi')] },
      },
      {
        name: 'a',
        datatype: 'INT64',
        shape: [2],
        parameters: { binary_data_size: { int64_param: 16 } },
      },
    ]
    const raws = [bytes(BigInt64Array.of(2n, 3n))]
    const answer = await call('ModelInfer', {
      model_name: 'form',
      inputs,
      raw_input_contents: raws,
    })
    expect(answer.raw_output_contents).toEqual([bytes(BigInt64Array.of(5n)), texts('hi')])
  })

  it('sends the outputs that are asked for, and classes', async () => {
    const outputs = [{ name: 'output', parameters: { classification: { int64_param: 1 } } }]
    const answer = await call('ModelInfer', { ...raw(Float32Array.of(1, 3)), outputs })
    expect(answer.raw_output_contents).toEqual([texts('6.000000:1')])
  })

  it('passes parameters to the function', async () => {
    const answer = await call(
      'ModelInfer',
      spell('ab', { times: { int64_param: 2 }, note: { string_param: 'x' } }),
    )
    expect(answer.raw_output_contents).toEqual([texts('abab')])
  })

  it('counts inferences', async () => {
    const count = async () => {
      const { model_stats } = await call('ModelStatistics', { name: 'wide' })
      return Number((model_stats as { execution_count: string }[])[0].execution_count)
    }
    const before = await count()
    const inputs = [
      { name: 'input', datatype: 'INT64', shape: [1], contents: { int64_contents: [1] } },
    ]
    await call('ModelInfer', { model_name: 'wide', inputs })
    expect(await count()).toBe(before + 1)
  })

  const base = raw(Float32Array.of(1, 2))
  const input = base.inputs[0]
  it.each<[string, object, number, RegExp]>([
    ['an unknown model', { ...base, model_name: 'none' }, status.NOT_FOUND, /name of a model/],
    ['an unknown version', { ...base, model_version: '7' }, status.NOT_FOUND, /version 1/],
    [
      'a version that is no number',
      { ...base, model_version: 'x' },
      status.INVALID_ARGUMENT,
      /a number/,
    ],
    [
      'too few bytes',
      { ...base, raw_input_contents: [Buffer.alloc(7)] },
      status.INVALID_ARGUMENT,
      /8 bytes/,
    ],
    [
      'no contents',
      { ...base, raw_input_contents: [] },
      status.INVALID_ARGUMENT,
      /received neither/,
    ],
    [
      'raw and typed contents of one input',
      { ...base, inputs: [{ ...input, contents: { fp32_contents: [1, 2] } }] },
      status.INVALID_ARGUMENT,
      /0 raw_input_contents/,
    ],
    [
      'contents of another datatype',
      { model_name: 'double', inputs: [{ ...input, contents: { fp64_contents: [1, 2] } }] },
      status.INVALID_ARGUMENT,
      /contents of FP32/,
    ],
    [
      'numbers beyond their datatype',
      {
        model_name: 'echo',
        inputs: [{ ...input, datatype: 'INT8', contents: { int_contents: [1, 200] } }],
      },
      status.INVALID_ARGUMENT,
      /range of INT8.*200/,
    ],
    [
      'several lists of contents',
      {
        model_name: 'double',
        inputs: [{ ...input, contents: { fp64_contents: [1], fp32_contents: [2] } }],
      },
      status.INVALID_ARGUMENT,
      /one list/,
    ],
    [
      'an unknown output',
      { ...base, outputs: [{ name: 'x' }] },
      status.INVALID_ARGUMENT,
      /outputs "output"/,
    ],
    [
      'a function that fails',
      { ...base, model_name: 'broken' },
      status.INTERNAL,
      /the function failed/,
    ],
  ])('refuses %s', async (_, message, code, text) => {
    const [seen, details] = await refusal('ModelInfer', message)
    expect(seen).toBe(code)
    expect(details).toMatch(text)
    expect(details).not.toContain('secret')
  })

  it('refuses bytes that are no message', async () => {
    const error = await new Promise<ServiceError | null>((resolve) => {
      client.makeUnaryRequest(
        path('ModelInfer'),
        asIs,
        asIs,
        Buffer.from([0x2a, 0x7f, 1]),
        (failure) => resolve(failure),
      )
    })
    expect(error?.code).toBe(status.INVALID_ARGUMENT)
  })
})

describe('ModelStreamInfer', () => {
  const final = (value: boolean) => ({ triton_final_response: { bool_param: value } })

  it('answers requests in their order, faults among them', async () => {
    const answers = await stream([
      { ...raw(Float32Array.of(1, 2)), id: '1' },
      { model_name: 'none', id: '2' },
      { ...raw(Float32Array.of(3, 4)), id: '3' },
    ])
    expect(answers).toMatchObject(
      [
        { error_message: '', infer_response: { id: '1', parameters: final(true) } },
        { error_message: /name of a model/, infer_response: { id: '2' } },
        { infer_response: { id: '3', raw_output_contents: [bytes(Float32Array.of(6, 8))] } },
      ].map((answer) => ({
        ...answer,
        error_message:
          answer.error_message instanceof RegExp ? expect.stringMatching(answer.error_message) : '',
      })),
    )
  })

  it('sends a message for each piece that a generator yields', async () => {
    const answers = await stream([
      spell('ab'),
      spell('c', { triton_enable_empty_final_response: { bool_param: true } }),
    ])
    expect(answers.map(({ infer_response }) => infer_response)).toMatchObject([
      { id: 'ab', parameters: final(false), raw_output_contents: [texts('a')] },
      { id: 'ab', parameters: final(false), raw_output_contents: [texts('b')] },
      { id: 'c', parameters: final(false), raw_output_contents: [texts('c')] },
      { id: 'c', parameters: final(true), outputs: [] },
    ])
  })

  it('lives on after a function has failed, unless a status is asked for', async () => {
    const answers = await stream([spell('boom'), spell('a')])
    expect(answers.at(-2)).toMatchObject({
      error_message: 'the function failed',
      infer_response: { id: 'boom' },
    })
    expect(answers.at(-1)).toMatchObject({ error_message: '', infer_response: { id: 'a' } })
    await expect(
      stream([spell('boom'), spell('a')], { triton_grpc_error: 'true' }),
    ).rejects.toMatchObject({
      code: status.INTERNAL,
    })
  })

  it('leaves no slot taken when a stream ends or is cancelled', async () => {
    const tight = await start(modelService(), { maxInFlight: 1 })
    const own = new Client(`127.0.0.1:${tight.grpcPort}`, credentials.createInsecure())
    for (let i = 0; i < 3; i++) {
      const duplex = own.makeBidiStreamRequest(path('ModelStreamInfer'), asIs, asIs)
      duplex.write(encoded('ModelInferRequest', spell('abc')))
      await new Promise((resolve) => duplex.once('data', resolve))
      duplex.on('error', () => {})
      if (i < 2) duplex.cancel()
      else duplex.end()
      await new Promise((resolve) => duplex.once('status', resolve))
    }
    own.close()
    await tight.close()
  })
})
