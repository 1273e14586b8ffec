import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { ConcurrencyLimiter } from '../../src/api/concurrency-limiter.ts'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { MemoryBudget } from '../../src/core/memory/memory-budget.ts'
import type { Engine, ServerState } from '../../src/engine/engine.ts'
import { defaultLimits } from '../../src/engine/options.ts'
import { createRouter } from '../../src/engine/router.ts'
import { problemResponse } from '../../src/http/problem.ts'
import { LiveStreams } from '../../src/live/live-streams.ts'
import { pickEngine } from '../../src/server/listener.ts'
import { chunked, engines, post, Raw } from './harness.ts'

const open: Engine[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((engine) => engine.close()))
})

const base = {
  access: { kind: 'service' } as const,
  origins: 'any' as const,
  readsHeaders: ['x-request-id'],
  isLimited: true,
  decompresses: false,
  problem: problemResponse,
}
const text = [['content-type', 'text/plain']] as const

/** An endpoint of each kind that protocols need. */
const endpoints: Endpoint[] = [
  {
    ...base,
    name: 'model',
    path: '/v2/models/{model}/infer',
    methods: ['GET', 'POST'],
    answer: (request, { target: { method, params, query } }) => ({
      headers: text,
      body: [method, params.model, query, Buffer.from(request.body).toString()].join('|'),
    }),
  },
  {
    ...base,
    name: 'stream',
    path: '/stream',
    methods: ['GET'],
    answer: () => ({ headers: text, body: count() }),
  },
  {
    ...base,
    name: 'mounted',
    path: '/mounted/*',
    methods: 'any',
    answer: (_, { target: { method, path } }) => ({ headers: text, body: `${method} ${path}` }),
  },
  {
    ...base,
    name: 'upload',
    path: '/upload',
    methods: ['PUT'],
    answer: () => ({ headers: text, body: 'whole' }),
    receive: () => {
      let length = 0
      return {
        write: (piece) => {
          length += piece.length
        },
        end: () => ({ headers: text, body: `received ${length}` }),
        abort: () => {},
      }
    },
  },
]

async function* count() {
  for (let i = 0; i < 3; i++) yield `${i}\n`
}

async function serveEndpoints(engine: 'uws' | 'node'): Promise<Raw> {
  const log = pino({ level: 'silent' })
  const server: ServerState = {
    router: createRouter(endpoints),
    methods: [],
    collectors: [],
    limits: { ...defaultLimits, requestTimeoutMs: 0 },
    limiter: new ConcurrencyLimiter(1),
    memory: new MemoryBudget(0),
    health: { state: 'ready' },
    lives: new LiveStreams(0),
    log,
  }
  const start = pickEngine(engine, log)
  const running = await start(server, { host: '127.0.0.1', port: 0 })
  open.push(running)
  return Raw.connect(running.port)
}

describe.each(engines)('endpoints on %s', (engine) => {
  it('hand over method, parameters, query and body', async () => {
    const raw = await serveEndpoints(engine)
    raw.write(post('/v2/models/a%20b/infer?x=%31', 'in'))
    expect((await raw.answer()).text).toBe('POST|a b|x=%31|in')
    raw.write(post('/v2/models/c/infer', '', {}, 'GET'))
    expect((await raw.answer()).text).toBe('GET|c||')
    raw.write(post('/v2/models/%ff/infer', '', {}, 'GET'))
    expect((await raw.answer()).status).toBe(400)
    raw.write(post('/v2/models/c/infer', '', {}, 'PUT'))
    expect((await raw.answer()).headers.get('allow')).toEqual(['GET, HEAD, POST'])
    raw.destroy()
  })

  it('stream, and answer HEAD without a body', async () => {
    const raw = await serveEndpoints(engine)
    raw.write(post('/stream', '', {}, 'GET'))
    expect((await raw.answer()).text).toBe('0\n1\n2\n')
    raw.write(post('/stream', '', {}, 'HEAD'))
    const head = await raw.answer(true)
    expect([
      head.status,
      head.headers.get('content-type'),
      head.headers.get('content-length'),
    ]).toEqual([200, ['text/plain'], undefined])
    raw.write(post('/v2/models/c/infer', '', {}, 'HEAD'))
    expect((await raw.answer(true)).headers.get('content-length')).toEqual(['8'])
    raw.write(post('/stream', '', {}, 'GET'))
    expect((await raw.answer()).text).toBe('0\n1\n2\n')
    raw.destroy()
  })

  it.each(['GET', 'DELETE', 'PATCH', 'OPTIONS'])('are mounted for %s', async (method) => {
    const raw = await serveEndpoints(engine)
    for (const path of ['/mounted', '/mounted/', '/mounted/a/%62']) {
      raw.write(post(path, '', {}, method))
      expect((await raw.answer()).text).toBe(`${method} ${path}`)
    }
    raw.destroy()
  })

  it('take a body as it comes', async () => {
    const raw = await serveEndpoints(engine)
    raw.write(
      post('/upload', chunked('a'.repeat(100_000), 'b'), { 'transfer-encoding': 'chunked' }, 'PUT'),
    )
    expect((await raw.answer()).text).toBe('received 100001')
    raw.destroy()
  })
})
