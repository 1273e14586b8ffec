import { BadInput, io, Service } from 'serving'
import { describe, expect, it } from 'vitest'

function service(): Service {
  const svc = new Service('faults')
  for (const [name, error] of Object.entries({
    picky: new BadInput('expected tea', { reason: 'schema' }),
    broken: new Error('secret'),
  })) {
    svc.api({ name, input: new io.Text(), output: new io.Text() }, async function* (text) {
      if (text.length > 1) yield text
      throw error
    })
    svc.api({ name: `${name}_sync`, input: new io.Text(), output: new io.Text() }, function* (text) {
      if (text.length > 1) yield text
      throw error
    })
    svc.api({ name: `${name}_json`, input: new io.Text(), output: new io.JSON() }, async function* (text) {
      if (text.length > 1) yield text
      throw error
    })
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
  const answer = await svc.inject({ path, method: 'POST', headers, body: JSON.stringify({ apiName: api, text }) })
  const { code, message } = answer.json<{ code: string; message: string }>()
  return [answer.status, code, message]
}

async function infer(api: string, text: string): Promise<unknown> {
  const inputs = [{ name: 'text_input', datatype: 'BYTES', shape: [1], data: [text] }]
  const answer = await svc.inject({ path: `/v2/models/${api}/infer`, method: 'POST', body: JSON.stringify({ inputs }) })
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
