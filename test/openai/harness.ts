/** A server with models of OpenAI's API, and its client. @module */
import OpenAI, { APIError } from 'openai'
import { afterAll, beforeAll, expect } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import type { EngineName } from '../../src/engine/options.ts'
import { type Listener, Runner, Service, serve } from '../../src/index.ts'
import { openai, type ServedModel } from '../../src/protocols/openai/index.ts'

export const key = 'test-key'
// Its SHA-256.
const hash = '62af8704764faf8ea82fc61ce9c4c3908b6cb97d463a634e9e587d7c885db0ef'

type Accepts = NonNullable<ServedModel['accepts']>

/**
 * Serves `said` and `org/embedder` while the tests of a file run, and `able`, which is `said` and accepts something.
 * Client and address are there in tests.
 */
export function serveModels(engine: EngineName, accepts?: Accepts) {
  const runner = new Runner<typeof import('./model.ts')>('said', {
    module: new URL('./model.ts', import.meta.url),
    methods: {
      chat: { stream: true },
      generate: { stream: true },
      embed: { batchable: true },
      rerank: {},
      transcribe: { stream: true },
      seen: {},
    },
    concurrency: 8,
    threads: 0,
  })
  const embedder = new Runner<typeof import('./model.ts')>('embedder', {
    module: new URL('./model.ts', import.meta.url),
    methods: { embed: {} },
    threads: 0,
  })
  const svc = new Service('tested', {
    auth: apiKey({ keys: [{ name: 'test', hash }] }),
    protocols: [
      openai({
        models: {
          said: runner,
          'org/embedder': embedder,
          ...(accepts && { able: { runner, accepts } }),
        },
      }),
    ],
  })
  let listener: Listener
  const models = { runner } as {
    readonly runner: typeof runner
    readonly client: OpenAI
    readonly url: string
  }

  beforeAll(async () => {
    listener = await serve(svc, {
      port: 0,
      host: '127.0.0.1',
      engine,
      drainTimeoutMs: 0,
      maxBodyBytes: accepts === undefined ? 100_000 : 2_000_000,
      logLevel: 'fatal',
    })
    const url = `http://127.0.0.1:${listener.port}`
    Object.assign(models, {
      url,
      client: new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 }),
    })
  })
  afterAll(() => listener.close())
  return models
}

/** @returns the error of the API with which a call ends. */
export async function rejected(
  promise: Promise<unknown>,
): Promise<APIError & { readonly error: unknown }> {
  const error = await promise.then(
    () => undefined,
    (thrown) => thrown,
  )
  expect(error).toBeInstanceOf(APIError)
  return error as APIError & { readonly error: unknown }
}

/** Types of the events of a response that is one text of three pieces, in their order. */
export const eventsOfText = [
  'response.created',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  'response.output_text.delta',
  'response.output_text.delta',
  'response.output_text.delta',
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
  'response.completed',
] as const
