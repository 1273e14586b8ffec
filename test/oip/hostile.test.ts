import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import protobuf from 'protobufjs-8'
import { ServingError } from 'serving'
import { describe, expect, it } from 'vitest'
import { cutJson } from '../../src/core/text/json-cut.ts'
import { readInferRequest } from '../../src/protocols/oip/grpc-request.ts'
import { bytes, requestsTo, texts, two } from './requests.ts'
import { modelService } from './service.ts'

const { post } = requestsTo(modelService())

const parameters = { binary_data_size: 8 }
const json = Buffer.from(
  JSON.stringify({
    id: 'x',
    inputs: [{ name: 'input', datatype: 'FP32', shape: [1, 2], parameters }],
    outputs: [{ name: 'output', parameters: { binary_data: true } }],
  }),
)
const word = { name: 'input', datatype: 'BYTES', shape: [2], parameters: { binary_data_size: 12 } }
const words = Buffer.from(JSON.stringify({ inputs: [word] }))

/** Bodies that are right, each with the length of its JSON. */
const seeds: readonly (readonly [string, Buffer, number])[] = [
  ['double', Buffer.from(JSON.stringify({ inputs: [two] })), -1],
  ['double', Buffer.concat([json, bytes(Float32Array.of(1, 2))]), json.length],
  ['words', Buffer.concat([words, texts('ab', 'cd')]), words.length],
]

const proto = readFileSync(
  new URL('../../proto/inference/grpc_service.proto', import.meta.url),
  'utf8',
)
const { root } = protobuf.parse(proto, { keepCase: true })
const type = root.lookupType('inference.ModelInferRequest')
const message = Buffer.from(
  type
    .encode(
      type.fromObject({
        model_name: 'form',
        id: 'x',
        parameters: { k: { string_param: 'abc' }, n: { int64_param: -1 } },
        inputs: [
          { name: 'a', datatype: 'INT64', shape: [1] },
          {
            name: 'b',
            datatype: 'BYTES',
            shape: [1],
            contents: { bytes_contents: [Buffer.from('A')] },
          },
        ],
        outputs: [{ name: 'sum', parameters: { classification: { int64_param: 1 } } }],
        raw_input_contents: [bytes(BigInt64Array.of(2n))],
      }),
    )
    .finish(),
)

const edit = fc.record({
  at: fc.nat(400),
  kind: fc.constantFrom('flip', 'cut', 'insert', 'drop'),
  byte: fc.constantFrom(
    0,
    0x22,
    0x2c,
    0x2d,
    0x30,
    0x39,
    0x5b,
    0x5c,
    0x5d,
    0x7b,
    0x7d,
    0x80,
    0xff,
    0x31,
  ),
})

function edited(
  seed: Buffer,
  edits: readonly { at: number; kind: string; byte: number }[],
): Buffer {
  let body = seed
  for (const { at: wanted, kind, byte } of edits) {
    const at = wanted % (body.length + 1)
    const [head, tail] = [body.subarray(0, at), body.subarray(at)]
    if (kind === 'cut') body = head
    else if (kind === 'insert') body = Buffer.concat([head, Buffer.from([byte]), tail])
    else if (kind === 'drop') body = Buffer.concat([head, tail.subarray(1)])
    else body = Buffer.concat([head, Buffer.from([byte]), tail.subarray(1)])
  }
  return body
}

describe('hostile requests', () => {
  it('are answered or refused, never a fault of the server', async () => {
    const body = fc.tuple(
      fc.constantFrom(...seeds),
      fc.array(edit, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: -3, max: 3 }),
    )
    await fc.assert(
      fc.asyncProperty(body, async ([[model, seed, length], edits, shift]) => {
        const sent = edited(seed, edits)
        const headers: Record<string, string> =
          length === -1 ? {} : { 'inference-header-content-length': String(length + shift) }
        const answer = await post(`/v2/models/${model}/infer`, sent, headers)
        expect([200, 400, 404, 413]).toContain(answer.status)
        if (answer.status !== 200)
          expect(typeof answer.json<{ error: unknown }>().error).toBe('string')
      }),
      { numRuns: 800 },
    )
  })

  it('may have objects that no text can show', async () => {
    const wrong = { toString: 1 }
    const outputs = [{ name: wrong, parameters: {} }]
    const inferred = await post('/v2/models/double/infer', { inputs: [two], outputs })
    expect(inferred.status).toBe(400)
    const generated = await post('/v2/models/spell/generate', { text_input: 'hi', id: wrong })
    expect(generated.status).toBe(200)
  })

  it('of generate are answered or refused, too', async () => {
    const seed = Buffer.from('{"text_input":"hi","id":"1","parameters":{"times":1},"stop":["a"]}')
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        const answer = await post('/v2/models/spell/generate', edited(seed, edits))
        expect([200, 400, 404, 413]).toContain(answer.status)
      }),
      { numRuns: 200 },
    )
  })

  it('over gRPC are read, or refused with BadInput', () => {
    expect(readInferRequest(Buffer.from(message)).read().inputs).toHaveLength(2)
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 5 }), (edits) => {
        try {
          readInferRequest(Buffer.from(edited(message, edits))).read()
        } catch (error) {
          expect(ServingError.is(error) && error.code).toBe('bad_input')
        }
      }),
      { numRuns: 5000 },
    )
  })

  it('of many tiny messages take no memory for each', () => {
    for (const field of [4, 5, 6, 7]) {
      const entry = field === 4 ? [0x22, 4, 0x12, 2, 0x08, 1] : [(field << 3) | 2, 0]
      const many = Buffer.from(Array.from({ length: 30_000 }, () => entry).flat())
      const what =
        field === 7
          ? '0 raw_input_contents, one for each input without contents, received 30000'
          : 'at most 1000'
      expect(() => readInferRequest(many).read()).toThrow(what)
    }
  })

  it('of much JSON beside the data are refused before it is parsed', async () => {
    const tail = `${'[],'.repeat(400_000)}[]`
    const answer = await post(
      '/v2/models/double/infer',
      `{"inputs":[${JSON.stringify(two)}],"x":[${tail}]}`,
    )
    expect(answer.status).toBe(413)
    const inputs = Array.from({ length: 2000 }, (_, i) => ({ ...two, name: `i${i}` }))
    expect((await post('/v2/models/double/infer', { inputs })).status).toBe(400)
  })

  it('of long JSON are read at once, where the square of its length would take minutes', () => {
    const read = (text: string) => cutJson(Buffer.from(text), { of: 'inputs', names: ['data'] })
    const count = 200_000
    for (const text of [
      `{"inputs":[{"data":${'['.repeat(count)}`,
      `{"inputs":[{${'"data":[1],'.repeat(count / 10)}`,
      `{"inputs":[{"data":["${'\\"'.repeat(count)}`,
      `{"inputs":[${'{"data":['.repeat(count / 10)}`,
      `{"inputs":[{"data":[1,${'"a",'.repeat(count / 4)}`,
    ]) {
      expect(() => read(text)).toThrow()
    }
  })
})
