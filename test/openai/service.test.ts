import OpenAI from 'openai'
import { expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { Forbidden, type RemoteRunner, Runner, Service, serve } from '../../src/index.ts'
import { type OpenAiModel, openai } from '../../src/protocols/openai/index.ts'

it('tells of deadlines and hooks in its own shape, and ends the model', async () => {
  const runner = new Runner<typeof import('./model.ts')>('said', {
    module: new URL('./model.ts', import.meta.url),
    methods: { chat: { stream: true }, seen: {} },
    concurrency: 2,
    threads: 0,
  })
  const svc = new Service('late', { protocols: [openai({ models: { said: runner } })] })
  svc.onRequest((ctx) => {
    if (ctx.headers.get('x-team') === undefined) throw new Forbidden('expected x-team')
  })
  const listener = await serve(svc, {
    port: 0,
    host: '127.0.0.1',
    requestTimeoutMs: 300,
    logLevel: 'fatal',
  })
  onTestFinished(() => listener.close())
  const options = { apiKey: 'any', baseURL: `http://127.0.0.1:${listener.port}/v1`, maxRetries: 0 }
  const ask = (client: OpenAI) =>
    client.chat.completions
      .create({
        model: 'said',
        messages: [{ role: 'user', content: 'hello' }],
        say: ['forever'],
      } as never)
      .catch((error) => error)
  expect(await ask(new OpenAI({ ...options, defaultHeaders: { 'x-team': 'a' } }))).toMatchObject({
    status: 504,
    type: 'server_error',
    code: 'deadline_exceeded',
    error: { message: expect.stringContaining('deadline') },
  })
  await expect.poll(async () => (await runner.seen()).ended).toBe(1)
  expect(await ask(new OpenAI(options))).toMatchObject({
    status: 403,
    type: 'permission_error',
    error: { message: 'expected x-team' },
  })
})

it('takes Runners of any kind', () => {
  expectTypeOf<Runner>().toExtend<OpenAiModel>()
  interface Model {
    chat(request: {
      messages: readonly { role: string; content: string }[]
    }): AsyncGenerator<string>
    embed(texts: string[]): number[][]
  }
  expectTypeOf<Runner<Model>>().toExtend<OpenAiModel>()
  expectTypeOf<RemoteRunner>().toExtend<OpenAiModel>()
  expectTypeOf<Runner<{ chat(request: number): string }>>().not.toExtend<OpenAiModel>()
})

it('is an option of a service', () => {
  for (const protocols of [openai, [openai], [undefined]])
    expect(() => new Service('wrong', { protocols: protocols as never })).toThrow(
      /protocols of Service, received/,
    )
})

it('is made of Runners with one of its methods', () => {
  expect(() => openai({ models: {} })).toThrow(/expected Runners by name for models of openai/)
  const runner = new Runner('other', {
    module: new URL('./model.ts', import.meta.url),
    methods: { seen: {} },
  })
  expect(() => openai({ models: { x: runner as never } })).toThrow(
    /a Runner with a method chat, generate, embed/,
  )
  expect(() => openai({ models: { x: undefined as never } })).toThrow(/for the model x of openai/)
})
