import { describe, expect, it } from 'vitest'
import { BadInput } from '../../src/core/errors.ts'
import { JSON as JSON_ } from '../../src/descriptors/json.ts'
import { Text } from '../../src/descriptors/text.ts'
import { Bytes, bothEngines, bytes, deferred, post, start } from './harness.ts'

describe.each(bothEngines)('streams on %s', (engine) => {
  it('sends the strings of a generator as they come', async () => {
    const second = deferred()
    const server = await start(engine, (svc) =>
      svc.api({ input: new Text(), output: new Text() }, async function* tell(text) {
        yield `${text}, `
        yield ''
        await second.promise
        yield 'world'
      }),
    )
    const raw = await server.connect()
    raw.write(post('/tell', 'hello'))
    await raw.until('hello, ')
    expect(raw.received).not.toContain('world')
    second.resolve()
    const answer = await raw.answer()
    expect([answer.text, answer.headers.get('transfer-encoding')]).toEqual([
      'hello, world',
      ['chunked'],
    ])
    raw.write(post('/tell', 'again'))
    expect((await raw.answer()).text).toBe('again, world')
  })

  it('sends an event at once, and two line ends after it', async () => {
    const second = deferred()
    const server = await start(engine, (svc) =>
      svc.api(
        { input: new Text(), output: new Text({ contentType: 'text/event-stream' }) },
        async function* tell() {
          yield { data: 'one' }
          await second.promise
          yield { data: 'two' }
        },
      ),
    )
    const raw = await server.connect()
    raw.write(post('/tell', 'x'))
    // Some clients give a chunk on when its last line end has come; Python's requests is one. They have the data then.
    await raw.until(
      engine === 'uws' ? '\r\na\r\ndata: one\n\r\n1\r\n\n' : '\r\nb\r\ndata: one\n\n\r\n',
    )
    second.resolve()
    expect((await raw.answer()).text).toBe('data: one\n\ndata: two\n\n')
  })

  it('makes an event stream of what a generator yields first', async () => {
    const server = await start(engine, (svc) => {
      svc.api({ input: new Text(), output: new Text() }, async function* tell(text, ctx) {
        ctx.response.setHeader('x-model', 'm')
        if (text === 'fail') yield 'text'
        yield { data: 'one' }
        yield text
      })
      svc.api({ input: new Text(), output: new Text(), name: 'list' }, () => [{ data: 'one' }])
    })
    for (const [path, text] of [
      ['/tell', 'data: one\n\ndata: x\n\n'],
      ['/list', 'data: one\n\n'],
    ] as const) {
      const answer = await server.ask(post(path, 'x'))
      expect([
        answer.status,
        answer.text,
        answer.headers.get('content-type'),
        answer.headers.get('x-model'),
      ]).toEqual([
        200,
        text,
        ['text/event-stream; charset=utf-8'],
        path === '/tell' ? ['m'] : undefined,
      ])
      expect(answer.headers.get('x-accel-buffering')).toEqual(['no'])
    }
    const raw = await server.connect()
    raw.write(post('/tell', 'fail'))
    await raw.closed
    expect(raw.received).not.toContain('data: one')
    expect(server.log.filter((line) => line.level === 50)).toMatchObject([
      { api: 'tell', code: 'internal' },
    ])
  })

  it('makes an event stream of a generator that yields nothing, if the client asks for events', async () => {
    const server = await start(engine, (svc) => {
      svc.api({ input: new Text(), output: new Text(), name: 'none' }, async function* () {})
    })
    const typeFor = async (accept: string) => {
      const answer = await server.ask(post('/none', 'x', { accept }))
      return [answer.status, answer.text, answer.headers.get('content-type')?.[0]]
    }
    expect(await typeFor('text/event-stream')).toEqual([
      200,
      '',
      'text/event-stream; charset=utf-8',
    ])
    expect(await typeFor('*/*')).toEqual([200, '', 'text/plain; charset=utf-8'])
  })

  it('sends values of a generator as lines or events as they come, and ends it when the client goes', async () => {
    const [ended, second] = [deferred(), deferred()]
    const server = await start(engine, (svc) => {
      svc.api({ input: new JSON_(), output: new JSON_() }, async function* count(n) {
        yield { n }
        await second.promise
        yield [n]
        if (n === 3) throw new Error('broken stream')
        if (n === 2) yield () => {}
      })
      svc.api({ input: new JSON_(), output: new JSON_() }, async function* wait(_, ctx) {
        try {
          yield 'first'
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
          yield 'second'
        } finally {
          ended.resolve()
        }
      })
      svc.api({ input: new JSON_(), output: new JSON_() }, function* refuse() {
        yield () => {}
      })
    })
    const raw = await server.connect()
    raw.write(post('/count', '1'))
    await raw.until('{"n":1}\n')
    second.resolve()
    const answer = await raw.answer()
    expect([answer.headers.get('content-type'), answer.text]).toEqual([
      ['application/x-ndjson'],
      '{"n":1}\n[1]\n',
    ])
    raw.write(post('/count', '1', { accept: 'text/event-stream' }))
    expect((await raw.answer()).text).toBe('data: {"n":1}\n\ndata: [1]\n\n')
    const refused = await server.ask(post('/refuse', '1'))
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([500, 'bad_output'])
    for (const body of ['2', '3']) {
      const cut = await server.connect()
      cut.write(post('/count', body))
      await cut.closed
      expect(cut.received).not.toMatch(/\r\n0\r\n\r\n$/)
    }
    const left = await server.connect()
    left.write(post('/wait', '1'))
    await left.until('"first"')
    left.destroy()
    await ended.promise
  })

  it('sends lists of chunks, empty ones and none included', async () => {
    const bodies = [
      ['a', '', Buffer.from('b')],
      [],
      [''],
      ['x'.repeat(100_000), Buffer.alloc(100_000, 'y')],
    ]
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'list' }, () => bodies.shift() ?? []),
    )
    const raw = await server.connect()
    for (const expected of ['ab', '', '', 'x'.repeat(100_000) + 'y'.repeat(100_000)]) {
      raw.write(post('/list'))
      expect((await raw.answer()).text === expected).toBe(true)
    }
  })

  it('answers with the status of a generator that fails before its first chunk', async () => {
    const server = await start(engine, (svc) => {
      svc.api({ input: new Text(), output: new Text() }, async function* refuse() {
        if (svc.name !== '') throw new BadInput('expected better')
        yield ''
      })
      svc.api({ input: new Text(), output: new Text() }, async function* fail() {
        if (svc.name !== '') throw new Error('secret')
        yield ''
      })
    })
    const refused = await server.ask(post('/refuse', 'x'))
    expect([refused.status, JSON.parse(refused.text).detail]).toEqual([400, 'expected better'])
    const failed = await server.ask(post('/fail', 'x'))
    expect([failed.status, failed.text.includes('secret')]).toEqual([500, false])
  })

  it('sends a stream of known length with its content-length, and keeps the connection', async () => {
    const sized = new Bytes([['content-length', '300001']])
    const server = await start(engine, (svc) =>
      svc.api({ input: new Bytes(), output: sized, name: 'sized' }, () =>
        (async function* () {
          yield 'a'
          yield ''
          yield Buffer.alloc(200_000, 'b')
          yield Buffer.alloc(100_000, 'c')
        })(),
      ),
    )
    const raw = await server.connect()
    for (let i = 0; i < 2; i++) {
      raw.write(post('/sized'))
      const answer = await raw.answer()
      expect([
        answer.headers.get('content-length'),
        answer.headers.has('transfer-encoding'),
      ]).toEqual([['300001'], false])
      expect(answer.text === `a${'b'.repeat(200_000)}${'c'.repeat(100_000)}`).toBe(true)
    }
    expect(server.log.filter((line) => line.level === 50)).toEqual([])
  })

  it('sends an empty stream of known length', async () => {
    const empty = new Bytes([['content-length', '0']])
    let ended = 0
    const nothing = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true as const, value: undefined }),
        return: async () => ({ done: true as const, value: ended++ }),
      }),
    }
    const server = await start(engine, (svc) =>
      svc.api({ input: new Bytes(), output: empty, name: 'sized' }, () => nothing as never),
    )
    const answer = await server.ask(post('/sized'))
    expect([answer.status, answer.headers.get('content-length'), answer.text, ended]).toEqual([
      200,
      ['0'],
      '',
      1,
    ])
  })
})
