import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import OpenAI, { BadRequestError, NotFoundError, toFile } from 'openai'
import type { Batch } from 'openai/resources/batches'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folder } from '../jobs/harness.ts'
import { hasRedis, redisServer } from '../jobs/redis-server.ts'
import { rejected } from './harness.ts'
import { startKept } from './kept-harness.ts'

type Body = Record<string, unknown>

const linesOf = (url: string, bodies: readonly Body[]) =>
  bodies
    .map((body, i) => JSON.stringify({ custom_id: `line ${i}`, method: 'POST', url, body }))
    .join('\n')

/** Uploads lines, and begins a batch of them. */
async function begin(client: OpenAI, url: string, lines: string, more: Body = {}): Promise<Batch> {
  const file = await client.files.create({
    file: await toFile(Buffer.from(lines), 'lines.jsonl'),
    purpose: 'batch',
  })
  return client.batches.create({
    input_file_id: file.id,
    endpoint: url as never,
    completion_window: '24h',
    ...more,
  })
}

async function endOf(
  client: OpenAI,
  { id }: Batch,
  timeout = 20_000,
  interval = 50,
): Promise<Batch> {
  let batch = await client.batches.retrieve(id)
  await expect
    .poll(
      async () => {
        batch = await client.batches.retrieve(id)
        return batch.status
      },
      { timeout, interval },
    )
    .not.toMatch(/validating|in_progress|cancelling/)
  return batch
}

async function resultsOf(client: OpenAI, id: string | undefined) {
  const text = await (await client.files.content(String(id))).text()
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe.skipIf(!isBuiltin('node:sqlite'))('batches', () => {
  it('keeps files, for their caller alone', async () => {
    const { client, clientOf } = await startKept()
    const text = `${'x'.repeat(2_000_000)}é`
    const file = await client.files.create({
      file: await toFile(Buffer.from(text), 'a.jsonl'),
      purpose: 'batch',
    })
    expect(file).toMatchObject({
      object: 'file',
      filename: 'a.jsonl',
      purpose: 'batch',
      bytes: 2_000_002,
      status: 'processed',
    })
    expect(await client.files.retrieve(file.id)).toMatchObject(file)
    expect(await (await client.files.content(file.id)).text()).toBe(text)
    expect((await client.files.list()).data).toMatchObject([{ id: file.id }])
    const bob = clientOf('bob').files
    expect((await bob.list()).data).toEqual([])
    for (const refused of [
      () => bob.retrieve(file.id),
      () => bob.content(file.id),
      () => bob.delete(file.id),
    ])
      expect(await rejected(refused() as Promise<unknown>)).toBeInstanceOf(NotFoundError)
    expect(await client.files.delete(file.id)).toMatchObject({ id: file.id, deleted: true })
    expect(await rejected(client.files.retrieve(file.id))).toBeInstanceOf(NotFoundError)
  })

  it('answers the lines of a chat, those that fail in a file of their own', async () => {
    const { client, clientOf } = await startKept({ concurrency: 4 })
    const messages = [{ role: 'user', content: 'hello' }]
    const lines = linesOf('/v1/chat/completions', [
      { model: 'said', messages },
      { model: 'said', messages, temperature: 9 },
      { model: 'said', messages, stream: true, say: ['é'] },
    ])
    // The second member is one of the server's own.
    const more = { metadata: { a: 'b' }, cancels: 'x'.repeat(22) }
    const begun = await begin(client, '/v1/chat/completions', lines, more)
    expect(begun).toMatchObject({ object: 'batch', metadata: { a: 'b' } })
    const batch = await endOf(client, begun)
    expect(batch).toMatchObject({
      id: begun.id,
      status: 'completed',
      request_counts: { total: 3, completed: 2, failed: 1 },
    })
    expect(await resultsOf(client, batch.output_file_id)).toMatchObject([
      {
        custom_id: 'line 0',
        response: {
          status_code: 200,
          body: { choices: [{ message: { content: 'one two three' } }] },
        },
        error: null,
      },
      { custom_id: 'line 2', response: { body: { choices: [{ message: { content: 'é' } }] } } },
    ])
    expect(await resultsOf(client, batch.error_file_id)).toMatchObject([
      {
        custom_id: 'line 1',
        response: { status_code: 400, body: { error: { param: 'temperature' } } },
      },
    ])
    expect((await client.batches.list()).data).toMatchObject([{ id: begun.id }])
    const bob = clientOf('bob').batches
    expect((await bob.list()).data).toEqual([])
    expect(await rejected(bob.retrieve(begun.id))).toBeInstanceOf(NotFoundError)
    expect(await rejected(bob.cancel(begun.id))).toBeInstanceOf(NotFoundError)
    const create = bob.create({
      input_file_id: batch.input_file_id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    })
    expect(await rejected(create)).toBeInstanceOf(NotFoundError)
  })

  it.each([
    ['/v1/responses', { model: 'said', input: 'hello' }, { object: 'response' }],
    ['/v1/completions', { model: 'said', prompt: 'hello' }, { object: 'text_completion' }],
    ['/v1/embeddings', { model: 'said', input: 'hello' }, { object: 'list' }],
    ['/double', [1, 2], [2, 4]],
  ])('answers lines of %s', async (url, body, expected) => {
    const { client } = await startKept()
    const batch = await endOf(client, await begin(client, url, linesOf(url, [body as Body])))
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 1 } })
    const [{ response }] = await resultsOf(client, batch.output_file_id)
    expect(response.body).toMatchObject(expected)
  })

  it.each(['/v1/files', '/v1/batches', '/v1/responses/{id}/cancel', '/guarded', '/nowhere'])(
    'refuses lines of %s',
    async (url) => {
      const { client } = await startKept()
      const error = await rejected(begin(client, url, linesOf(url, [{}])))
      expect(error).toBeInstanceOf(BadRequestError)
      expect(error).toMatchObject({ param: 'endpoint' })
    },
  )

  it('refuses members that are no texts', async () => {
    const { client } = await startKept()
    const wrong = { toString: 1 }
    for (const more of [{ endpoint: wrong }, { input_file_id: wrong }])
      expect(await rejected(begin(client, '/double', '[1]', more))).toBeInstanceOf(BadRequestError)
  })

  it.each([
    ['no lines', ''],
    ['no JSON', '{"custom_id":'],
    ['one id twice', [0, 0].map(() => linesOf('/double', [{}])).join('\n')],
    ['another path', linesOf('/v1/embeddings', [{}])],
  ])('fails for a file with %s', async (_, lines) => {
    const { client } = await startKept()
    const batch = await endOf(client, await begin(client, '/double', lines))
    expect(batch.status).toBe('failed')
    expect(batch.errors?.data).toMatchObject([{ message: expect.stringMatching(/^expected/) }])
  })

  it('cancels, with the lines that run', async () => {
    const { runner, client } = await startKept({ concurrency: 2 })
    const messages = [{ role: 'user', content: 'hello' }]
    const body = { model: 'said', messages, say: ['forever'] }
    const lines = linesOf('/v1/chat/completions', [body, body, body])
    const begun = await begin(client, '/v1/chat/completions', lines)
    await expect.poll(async () => (await runner.seen()).requests.length).toBe(2)
    expect((await client.batches.cancel(begun.id)).status).toMatch(/cancell(ing|ed)/)
    expect(await endOf(client, begun)).toMatchObject({ status: 'cancelled' })
    await expect.poll(async () => (await runner.seen()).ended, { timeout: 10_000 }).toBe(2)
    expect((await runner.seen()).requests.length).toBe(2)
  })

  it('gives what a cancelled batch has done, and names the other lines', async () => {
    const { runner, client, clientOf } = await startKept({ concurrency: 2 })
    const messages = [{ role: 'user', content: 'hello' }]
    const url = '/v1/chat/completions'
    const body = { model: 'said', messages }
    const wrong = { ...body, temperature: 9 }
    const long = { ...body, say: ['forever'] }
    const begun = await begin(client, url, linesOf(url, [body, wrong, long, long, body]))
    await expect.poll(async () => (await runner.seen()).requests.length).toBe(3)
    expect((await client.batches.cancel(begun.id)).status).toMatch(/cancell(ing|ed)/)
    const batch = await endOf(client, begun)
    expect(batch).toMatchObject({
      id: begun.id,
      status: 'cancelled',
      cancelled_at: expect.any(Number),
      request_counts: { total: 5, completed: 1, failed: 4 },
    })
    expect(await resultsOf(client, batch.output_file_id)).toMatchObject([
      { custom_id: 'line 0', response: { status_code: 200 } },
    ])
    const cancelled = { response: null, error: { code: 'batch_cancelled' } }
    expect(await resultsOf(client, batch.error_file_id)).toMatchObject([
      { custom_id: 'line 1', response: { status_code: 400 } },
      ...[2, 3, 4].map((i) => ({ custom_id: `line ${i}`, ...cancelled })),
    ])
    expect((await client.batches.list()).data).toMatchObject([batch])
    expect((await client.batches.cancel(begun.id)).output_file_id).toBe(batch.output_file_id)
    const bob = clientOf('bob').files
    expect(await rejected(bob.retrieve(`${batch.output_file_id}`))).toBeInstanceOf(NotFoundError)
    expect((await runner.seen()).requests.length).toBe(3)
  })

  it.each([{ maxPerCaller: 2 }, { maxQueued: 8 }])(
    'is one job of its caller, whatever lines it has: %j',
    async (bounds) => {
      const { client } = await startKept({ concurrency: 4, ...bounds })
      const bodies = Array.from({ length: 100 }, (_, i) => [i] as never)
      const batch = await endOf(client, await begin(client, '/double', linesOf('/double', bodies)))
      expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 100 } })
    },
  )

  it('answers 2,000 lines in their order, as one request of a rate limit', async () => {
    const { client } = await startKept({ concurrency: 32 }, undefined, 100)
    const bodies = Array.from({ length: 2000 }, (_, i) => [i] as never)
    const begun = await begin(client, '/double', linesOf('/double', bodies))
    const batch = await endOf(client, begun, 60_000, 1000)
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 2000 } })
    const results = await resultsOf(client, batch.output_file_id)
    expect(results.map(({ response }) => response.body)).toEqual(bodies.map((_, i) => [2 * i]))
  }, 90_000)

  it.each(['/few', '/one'])(
    'waits while the limits of %s refuse lines',
    async (url) => {
      const { client } = await startKept({ concurrency: 8, retries: 0 })
      const bodies = Array.from({ length: 16 }, (_, i) => i as never)
      const batch = await endOf(client, await begin(client, url, linesOf(url, bodies)), 30_000)
      expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 16 } })
    },
    40_000,
  )
})

const kinds = [isBuiltin('node:sqlite') && 'SQLite', hasRedis && 'Redis'].filter(Boolean)

it.skipIf(kinds.length === 0)(
  `batches go on after a kill, and do no line again that was done: ${kinds.join(', ')}`,
  async () => {
    const place = folder()
    const log = join(place, 'calls.log')
    writeFileSync(log, '')
    const stores = kinds.map((kind) =>
      kind === 'SQLite' ? `sqlite:${join(place, 'jobs.db')}` : '',
    )
    if (hasRedis) {
      const redis = await redisServer()
      onTestFinished(() => redis.stop())
      stores[stores.length - 1] = redis.url
    }
    const calls = (mark: string) =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(mark))
        .map((line) => line.slice(mark.length))
    const first = await serveKilled(log, stores)
    const count = Number(process.env.BATCH_LINES ?? 120)
    const url = '/v1/chat/completions'
    const textsOf = (kind: unknown) => Array.from({ length: count }, (_, i) => `${kind} ${i}`)
    const begun = await Promise.all(
      first.clients.map((client, i) => {
        const bodies = textsOf(kinds[i]).map((content) => {
          return { model: 'logging', messages: [{ role: 'user', content }] }
        })
        return begin(client, url, linesOf(url, bodies))
      }),
    )
    for (const kind of kinds)
      await expect.poll(() => calls(`end ${kind}`).length, { timeout: 20_000 }).toBeGreaterThan(20)
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    const done = kinds.map((kind) => calls(`end ${kind}`).length)
    const running = kinds.map((kind, i) => calls(`begin ${kind}`).length - done[i])
    const { clients } = await serveKilled(log, stores)
    for (const [i, kind] of kinds.entries()) {
      expect(done[i]).toBeLessThan(count)
      const batch = await endOf(clients[i], begun[i], 60_000)
      expect(batch).toMatchObject({
        status: 'completed',
        request_counts: { total: count, completed: count },
      })
      const results = await resultsOf(clients[i], batch.output_file_id)
      expect(results.map(({ response }) => response.body.choices[0].message.content)).toEqual(
        textsOf(kind).map((text) => `said ${text}`),
      )
      const ends = calls(`end ${kind}`)
      // Their end was not kept yet: four at a time, as of those that had begun.
      expect(ends.length - count + running[i]).toBeLessThanOrEqual(4)
      expect(new Set(ends).size).toBe(count)
    }
  },
  120_000,
)

const program = fileURLToPath(new URL('./kept-server.ts', import.meta.url))

/** Starts a process with a server for each store. */
async function serveKilled(
  log: string,
  stores: readonly string[],
): Promise<{ child: ChildProcess; clients: OpenAI[] }> {
  const child = fork(program, [log, ...stores], { execArgv: ['--import', 'tsx'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [{ ports }] = await once(child, 'message')
  const clients = (ports as number[]).map((port) => {
    const baseURL = `http://127.0.0.1:${port}/v1`
    return new OpenAI({ apiKey: 'any', baseURL, maxRetries: 0 })
  })
  return { child, clients }
}
