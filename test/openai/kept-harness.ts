/** A server with a job store for what `openai` keeps, and clients of two callers. @module */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import OpenAI from 'openai'
import type { Response } from 'openai/resources/responses/responses'
import { expect, onTestFinished } from 'vitest'
import { apiKey, rateLimit } from '../../src/api/auth/index.ts'
import { type AsyncOptions, io, Runner, Service, serve } from '../../src/index.ts'
import { openai } from '../../src/protocols/openai/index.ts'
import { folder } from '../jobs/harness.ts'

export const input = 'My name is Ann.'

/** Serves the model `said` with a job store until the end of the test. `burst`: requests that it takes of a caller. */
export async function startKept(
  async: boolean | AsyncOptions = true,
  file = join(folder(), 'jobs.db'),
  burst?: number,
) {
  const runner = new Runner<typeof import('./model.ts')>('said', {
    module: new URL('./model.ts', import.meta.url),
    methods: { chat: { stream: true }, generate: { stream: true }, embed: {}, seen: {} },
    concurrency: 4,
    threads: 0,
  })
  const keys = ['ann', 'bob'].map((name) => ({
    name,
    hash: createHash('sha256').update(`${name}-key`).digest('hex'),
  }))
  const svc = new Service('tested', {
    auth: apiKey({ keys }),
    jobs: { store: `sqlite:${file}` },
    protocols: [openai({ models: { said: { runner, accepts: ['tools'] } }, async })],
  })
  if (burst !== undefined) svc.onRequest(rateLimit({ rate: 0.001, burst }))
  const json = { input: new io.JSON(), output: new io.JSON() }
  svc.api({ ...json, name: 'double' }, (values) => (values as number[]).map((value) => 2 * value))
  const onRequest = rateLimit({ rate: 20, burst: 5 })
  svc.api({ ...json, name: 'few', onRequest }, (value) => value)
  svc.api({ ...json, name: 'one', maxInFlight: 1 }, async (value) => {
    await wait(20)
    return value
  })
  svc.api({ ...json, name: 'guarded', auth: apiKey({ keys }) }, () => 1)
  const options = { port: 0, host: '127.0.0.1', drainTimeoutMs: 0, logLevel: 'fatal' } as const
  const listener = await serve(svc, options)
  onTestFinished(() => listener.close())
  const url = `http://127.0.0.1:${listener.port}`
  const clientOf = (name: string) =>
    new OpenAI({ apiKey: `${name}-key`, baseURL: `${url}/v1`, maxRetries: 0 })
  const client = clientOf('ann')
  const create = (extra: Record<string, unknown> = {}) =>
    client.responses.create({ model: 'said', input, ...extra } as never) as Promise<Response>
  const ended = (id: string) =>
    expect
      .poll(async () => (await client.responses.retrieve(id)).status, { timeout: 10_000 })
      .not.toMatch(/queued|in_progress/)
  return { runner, url, client, clientOf, create, ended, listener, file }
}
