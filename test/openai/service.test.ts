import OpenAI from 'openai'
import { expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { Forbidden, type RemoteRunner, Runner, Service, serve } from '../../src/index.ts'
import {
  type ChatContent,
  type ChatRequest,
  type OpenAiModel,
  openai,
} from '../../src/protocols/openai/index.ts'
import { pngOf } from '../corpora/hostile-png.ts'

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

it('reserves the memory of pictures and of whole answers', async () => {
  const runner = new Runner<typeof import('./model.ts')>('said', {
    module: new URL('./model.ts', import.meta.url),
    methods: { chat: { stream: true }, transcribe: { stream: true } },
    concurrency: 8,
    threads: 0,
  })
  const able = { runner, accepts: ['images', 'n', 'response_format', 'logprobs'] } as const
  const svc = new Service('small', { protocols: [openai({ models: { able } })] })
  const options = { port: 0, host: '127.0.0.1', maxMemoryBytes: 24_000_000, logLevel: 'fatal' }
  const listener = await serve(svc, options as never)
  onTestFinished(() => listener.close())
  const post = async (path: string, body: string | FormData) => {
    const address = `http://127.0.0.1:${listener.port}/v1/${path}`
    const answer = await fetch(address, { method: 'POST', body })
    const text = await answer.text()
    return `${answer.status} ${/memory/.exec(text)?.[0]}`
  }
  const ask = (content: unknown, more: object) => {
    const body = { model: 'able', messages: [{ role: 'user', content }], ...more }
    return post('chat/completions', JSON.stringify(body))
  }
  const picture = (side: number) => {
    const url = `data:image/png;base64,${pngOf(side, side).toString('base64')}`
    return [{ type: 'image_url', image_url: { url } }]
  }
  expect(await ask(picture(4_000), {})).toBe('503 memory')
  // It has the pixels of one row alone.
  expect(await ask(picture(40), {})).toBe('400 undefined')
  const say = ['x'.repeat(1_000_000)]
  expect(await ask('hi', { say })).toBe('200 undefined')
  expect(await ask('hi', { say, n: 16 })).toBe('503 memory')
  const json = { say: [JSON.stringify({ say })], response_format: { type: 'json_object' }, n: 16 }
  // The headers are sent: the error is an event.
  expect(await ask('hi', { ...json, stream: true })).toBe('200 memory')
  const token = { text: 'a', logprobs: [{ token: 'x'.repeat(1_000_000), logprob: 0 }] }
  expect(await ask('hi', { say: [token], logprobs: true, n: 16 })).toBe('503 memory')
  const long = 'x'.repeat(300_000)
  for (const stream of [false, true]) {
    const asked = { model: 'able', input: long, say: Array(50).fill('parts'), stream }
    expect(await post('responses', JSON.stringify(asked))).toBe(`${stream ? 200 : 503} memory`)
    const form = new FormData()
    const members = { model: 'able', language: 'all', prompt: long, stream: `${stream}` }
    for (const [name, value] of Object.entries(members)) form.set(name, value)
    form.set('file', new Blob(['RIFF']), 'a.wav')
    expect(await post('audio/transcriptions', form)).toBe(`${stream ? 200 : 503} memory`)
  }
  expect(await ask('hi', { say })).toBe('200 undefined')
})

it('takes models with what they accept', () => {
  const runner = new Runner<typeof import('./model.ts')>('said', {
    module: new URL('./model.ts', import.meta.url),
    methods: { chat: { stream: true } },
  })
  for (const accepts of ['tools', ['tool']])
    expect(() => openai({ models: { x: { runner, accepts } as never } })).toThrow(
      /for accepts of the model x of openai/,
    )
  expect(() => openai({ models: { x: { runner, accept: [] } as never } })).toThrow(
    /unknown option "accept" for the model x of openai/,
  )
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
  interface Seeing {
    chat(request: ChatRequest<ChatContent>): AsyncGenerator<string>
  }
  expectTypeOf<Runner<Seeing>>().toExtend<OpenAiModel>()
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
