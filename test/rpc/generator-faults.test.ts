import { status as codes } from '@grpc/grpc-js'
import { BadInput, io, NotFound, Service, TooManyRequests } from 'serving'
import { describe, expect, it, onTestFinished } from 'vitest'
import { GrpcClient, start } from './harness.ts'

function service(): Service {
  const svc = new Service('faults')
  for (const [name, error] of Object.entries({
    picky: new BadInput('expected tea', { reason: 'schema' }),
    broken: new Error('secret'),
    absent: new NotFound('no tea'),
    busy: new TooManyRequests('later'),
  })) {
    svc.api({ name, input: new io.Text(), output: new io.Text() }, async function* (text) {
      if (text.length > 1) yield text
      throw error
    })
    svc.api(
      { name: `${name}_sync`, input: new io.Text(), output: new io.Text() },
      function* (text) {
        if (text.length > 1) yield text
        throw error
      },
    )
    svc.api(
      { name: `${name}_json`, input: new io.Text(), output: new io.JSON() },
      async function* (text) {
        if (text.length > 1) yield text
        throw error
      },
    )
  }
  svc.api({ name: 'number', input: new io.Text(), output: new io.Text() }, async function* () {
    yield 1 as unknown as string
  })
  return svc
}

const svc = service()

async function connect(api: string, text: string): Promise<unknown> {
  const path = '/serving.v1.ServingService/Call'
  const headers = { 'content-type': 'application/json' }
  const answer = await svc.inject({
    path,
    method: 'POST',
    headers,
    body: JSON.stringify({ apiName: api, text }),
  })
  const { code, message } = answer.json<{ code: string; message: string }>()
  return [answer.status, code, message]
}

async function infer(api: string, text: string): Promise<unknown> {
  const inputs = [{ name: 'text_input', datatype: 'BYTES', shape: [1], data: [text] }]
  const answer = await svc.inject({
    path: `/v2/models/${api}/infer`,
    method: 'POST',
    body: JSON.stringify({ inputs }),
  })
  return [answer.status, answer.json<{ code: string }>().code]
}

describe('a generator that fails while its whole answer is collected', () => {
  const kinds = ['', '_sync', '_json']

  it.each(kinds.flatMap((kind) => [[kind, 'a'] as const, [kind, 'ab'] as const]))(
    'blames the client by BadInput alone: %s %s',
    async (kind, text) => {
      expect(await connect(`picky${kind}`, text)).toEqual([400, 'invalid_argument', 'expected tea'])
      expect(await infer(`picky${kind}`, text)).toEqual([400, 'bad_input'])
      expect(await connect(`broken${kind}`, text)).toEqual([500, 'internal', 'the function failed'])
      expect(await infer(`broken${kind}`, text)).toEqual([500, 'function_error'])
    },
  )

  it('is no fault of the function if the descriptor refuses a piece', async () => {
    expect(await infer('number', 'a')).toEqual([500, 'bad_output'])
  })
})

describe('a generator that fails while its pieces are sent', () => {
  const early = 't'
  const late = 'tea'

  it.each(['', '_sync', '_json'])(
    'keeps the code of its error over CallStream: %s',
    async (kind) => {
      const listener = await start(service())
      const client = new GrpcClient(listener.grpcPort as number)
      onTestFinished(async () => {
        client.close()
        await listener.close()
      })
      const end = (api: string, text: string) =>
        client.stream(`${api}${kind}`, { field: 'text', message: text }).then(
          () => 'no error',
          ({ code, details }) => [code, details],
        )
      for (const text of [early, late]) {
        expect(await end('picky', text)).toEqual([codes.INVALID_ARGUMENT, 'expected tea'])
        expect(await end('absent', text)).toEqual([codes.NOT_FOUND, 'no tea'])
        expect(await end('busy', text)).toEqual([codes.RESOURCE_EXHAUSTED, 'later'])
        expect(await end('broken', text)).toEqual([codes.INTERNAL, 'the function failed'])
      }
    },
  )

  it.each([early, late])(
    'keeps the text of its error in the events of generate_stream: %s',
    async (text) => {
      const path = '/v2/models/picky/generate_stream'
      const answer = await svc.inject({
        path,
        method: 'POST',
        body: JSON.stringify({ text_input: text }),
      })
      expect(answer.text()).toContain('expected tea')
    },
  )
})
