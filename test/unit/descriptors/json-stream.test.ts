import { setImmediate as turn } from 'node:timers/promises'
import { BadOutput, Context, io, NDArray, Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { collectBody, HeaderList } from '../../../src/http/message.ts'

const ctxOf = (accept: string) => new Context({ headers: HeaderList.from({ accept }) })

async function answer(
  value: unknown,
  { accept = '*/*', descriptor = new io.JSON() as io.JSON } = {},
) {
  const { headers, body } = await descriptor.toHttpResponse(value, ctxOf(accept))
  return [headers[0][1], Buffer.from(await collectBody(body)).toString()]
}

function* numbers() {
  yield { i: 1 }
  yield [2n ** 60n, NDArray.from([0.5]), Number.NaN]
  yield undefined
  yield 'a\nb'
}
const lines = '{"i":1}\n[1152921504606846976,[0.5],null]\nnull\n"a\\nb"\n'

describe('JSON of a generator', () => {
  it.each<[string, () => unknown]>([
    ['a generator', numbers],
    [
      'an async generator',
      async function* () {
        yield* numbers()
      },
    ],
    [
      'an async iterable',
      () => ({ [Symbol.asyncIterator]: () => ReadableStream.from(numbers()).values() }),
    ],
    ['an iterator', () => [...numbers()].values()],
    ['a ReadableStream', () => ReadableStream.from([...numbers()].map((each) => each ?? null))],
  ])('is a line of NDJSON for each piece of %s', async (_, make) => {
    expect(await answer(make())).toEqual(['application/x-ndjson', lines])
  })

  it('is an event for each piece where the client prefers events', async () => {
    const events = lines.replaceAll('\n', '\n\n').replace(/^(?=.)/gm, 'data: ')
    expect(await answer(numbers(), { accept: 'text/event-stream' })).toEqual([
      'text/event-stream; charset=utf-8',
      events,
    ])
    expect((await answer(numbers(), { accept: 'text/event-stream, */*' }))[1]).toBe(events)
    for (const accept of [
      '*/*',
      'application/x-ndjson',
      'application/json',
      'text/event-stream;q=0.5, */*',
    ]) {
      expect([accept, (await answer(numbers(), { accept }))[1]]).toEqual([accept, lines])
    }
  })

  it('has one line for each piece, whatever the encoder writes', async () => {
    class Pretty extends io.JSONEncoder {
      override encode(value: unknown): string {
        return JSON.stringify(value, null, 1)
      }
    }
    const descriptor = new io.JSON({ jsonEncoder: Pretty })
    const text = (await answer([{ a: [1] }, 2].values(), { descriptor }))[1]
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([{ a: [1] }, 2])
  })

  it('has large pieces, too', async () => {
    const large = Array.from({ length: 200_000 }, (_, i) => i)
    expect((await answer([large, 1].values()))[1]).toBe(`${JSON.stringify(large)}\n1\n`)
    expect((await answer([large].values(), { accept: 'text/event-stream' }))[1]).toBe(
      `data: ${JSON.stringify(large)}\n\n`,
    )
  })

  it('is checked by the schema piece by piece', async () => {
    const schema = z.object({ n: z.number().default(7) })
    const descriptor = new io.JSON({ schema }) as never
    expect((await answer([{ n: 1 }, {}].values(), { descriptor }))[1]).toBe('{"n":1}\n{"n":7}\n')
    await expect(answer([{ n: 1 }, { n: 'x' }].values(), { descriptor })).rejects.toMatchObject({
      code: 'bad_output',
      path: 'n',
    })
    const later = z.object({ n: z.number().refine((n) => turn(n > 0)) })
    const slow = new io.JSON({ schema: later }) as never
    expect((await answer([{ n: 1 }].values(), { descriptor: slow }))[1]).toBe('{"n":1}\n')
  })

  it('is refused within a value', async () => {
    for (const value of [{ a: numbers() }, [ReadableStream.from([1])]]) {
      expect(() => new io.JSON().toHttpResponse(value)).toThrow(BadOutput)
    }
  })

  it('is a list over unary RPC, and a message for each piece over streaming RPC', async () => {
    const json = new io.JSON()
    expect(await json.toProto([{ a: 1 }, 2n].values())).toEqual([{ a: 1 }, 2])
    const messages = []
    for await (const message of json.toProtoStream([{ a: 1 }, 2n].values())) messages.push(message)
    for await (const message of json.toProtoStream([3])) messages.push(message)
    expect(messages).toEqual([{ a: 1 }, 2, [3]])
  })
})

describe('an API whose function is a generator', () => {
  const svc = new Service('streams')
  svc.api({ input: new io.JSON(), output: new io.JSON() }, async function* count(n) {
    for (let i = 1; i <= Number(n); i++) yield { i }
  })
  svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'returned' }, (n) => [n, n].values())
  svc.get('/ticks', { output: new io.JSON() }, function* ticks() {
    yield 1
    yield 2
  })

  it('answers inject with a list of the values', async () => {
    const found = await svc.inject({ path: '/count', body: 2 })
    expect([found.headers.get('content-type'), found.headers.get('vary'), found.json()]).toEqual([
      'application/x-ndjson',
      'accept',
      [{ i: 1 }, { i: 2 }],
    ])
    expect((await svc.inject({ path: '/count', body: 0 })).json()).toEqual([])
    const accept = { accept: 'text/event-stream' }
    expect((await svc.inject({ path: '/returned', body: 5, headers: accept })).text()).toBe(
      'data: 5\n\ndata: 5\n\n',
    )
    expect((await svc.inject({ path: '/ticks', headers: accept })).text()).toBe(
      'data: 1\n\ndata: 2\n\n',
    )
  })

  it('is described as streams where it is known', async () => {
    const { paths } = (await svc.inject({ path: '/openapi.json' })).json<{
      paths: Record<string, Record<string, { responses: Record<string, { content: object }> }>>
    }>()
    const types = (path: string, method = 'post') =>
      Object.keys(paths[path][method].responses[200].content)
    expect(types('/count')).toEqual(['application/x-ndjson', 'text/event-stream'])
    expect(types('/ticks', 'get')).toEqual(['application/x-ndjson', 'text/event-stream'])
    expect(types('/returned')).toEqual(['application/json'])
  })
})
