import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import agents from '../../examples/openai/agents.ts'
import svc from '../../examples/openai/service.ts'
import { type Listener, serve } from '../../src/index.ts'
import { root } from '../cli/process.ts'
import { folder } from '../jobs/harness.ts'

let listener: Listener
let client: OpenAI
let url: string

beforeAll(async () => {
  listener = await serve(svc, { port: 0, host: '127.0.0.1', drainTimeoutMs: 0 })
  url = `http://127.0.0.1:${listener.port}`
  client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1` })
})
afterAll(() => listener.close())

const corpus = readFileSync(new URL('../../examples/chat/corpus.txt', import.meta.url), 'utf8')
const ask = (content: string, more = {}) =>
  client.chat.completions.create({
    model: 'tiny',
    messages: [{ role: 'user', content }],
    seed: 7,
    ...more,
  })

it('answers in sentences about the question, with counts, the same for a seed', async () => {
  const { choices, usage } = await ask('How does batching work?')
  const text = choices[0].message.content ?? ''
  expect(text).toMatch(/^[A-Z].*[.!?]$/)
  expect(text).toMatch(/batch/i)
  const words = new Set(corpus.match(/[\w'-]+/g))
  expect(text.match(/[\w'-]+/g)?.filter((word) => !words.has(word))).toEqual([])
  expect(usage?.prompt_tokens).toBe(5)
  expect(usage?.completion_tokens).toBeGreaterThan(10)
  expect((await ask('How does batching work?')).choices[0].message.content).toBe(text)
  const others = await Promise.all(
    [1, 2, 3, 4].map((seed) => ask('How does batching work?', { seed, temperature: 2 })),
  )
  expect(new Set(others.map(({ choices: [{ message }] }) => message.content)).size).toBeGreaterThan(
    1,
  )
  expect((await ask('What do pictures need?')).choices[0].message.content).toMatch(/picture/i)
})

it('streams the same text, ends after max_tokens, and continues a text', async () => {
  let text = ''
  const stream = await client.chat.completions.create({
    model: 'tiny',
    messages: [{ role: 'user', content: 'How does batching work?' }],
    seed: 7,
    stream: true,
  })
  for await (const { choices } of stream) text += choices[0].delta.content ?? ''
  expect(text).toBe((await ask('How does batching work?')).choices[0].message.content)
  const more = { model: 'tiny', max_tokens: 3, seed: 7 }
  const { choices, usage } = await client.completions.create({ ...more, prompt: 'The server' })
  expect(choices[0]).toMatchObject({
    finish_reason: 'length',
    text: expect.stringMatching(/^ ?\S/),
  })
  expect(usage).toEqual({ prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 })
})

it('embeds texts about one thing near each other', async () => {
  const input = [
    'batching of requests',
    'requests in a batch',
    'JPEG pictures',
    'a picture as PNG or JPEG',
  ]
  const { data } = await client.embeddings.create({ model: 'tiny', input })
  const likeness = (a: number, b: number) =>
    data[a].embedding.reduce((sum, each, i) => sum + each * data[b].embedding[i], 0)
  expect(likeness(0, 0)).toBeCloseTo(1, 5)
  for (const [a, b] of [
    [0, 1],
    [2, 3],
  ] as const)
    expect(likeness(a, b)).toBeGreaterThan(0.5)
  for (const [a, b] of [
    [0, 2],
    [0, 3],
    [1, 2],
    [1, 3],
  ] as const)
    expect(likeness(a, b)).toBeLessThan(0.3)
})

it('has a client', async () => {
  const args = ['--import', 'tsx', 'examples/openai/client.ts', url, 'How does batching work?']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  expect(stdout.trim()).toBe((await ask('How does batching work?')).choices[0].message.content)
})

it.skipIf(!isBuiltin('node:sqlite'))('has a service for agents, and a client of it', async () => {
  const jobStore = `sqlite:${join(folder(), 'jobs.db')}`
  const options = { port: 0, host: '127.0.0.1', drainTimeoutMs: 0, jobStore } as const
  const served = await serve(agents, options)
  onTestFinished(() => served.close())
  const args = ['--import', 'tsx', 'examples/openai/agent.ts', `http://127.0.0.1:${served.port}`]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  expect(stdout.trim().split('\n')).toEqual([
    'tool { price: 7 }',
    "prompt { type: 'text', text: 'Write an offer for sencha.' }",
    'resource {',
    "  uri: 'serving://agents/hours',",
    "  mimeType: 'text/plain',",
    "  text: '9 to 5'",
    '}',
    'response I follow rules. I call tools and fill schemas.',
    'batch assam { price: 7 }',
    'batch sencha { price: 12 }',
  ])
})

const rules = (content: string, more: object) =>
  client.chat.completions.create({ model: 'rules', messages: [{ role: 'user', content }], ...more })

it('calls a tool by rules, and tells what the tool said', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const tools = [
    { type: 'function' as const, function: { name: 'clock' } },
    { type: 'function' as const, function: { name: 'get_weather', parameters } },
  ]
  const question = 'What is the weather in Paris?'
  const { choices } = await rules(question, { tools })
  const { message, finish_reason } = choices[0]
  expect(finish_reason).toBe('tool_calls')
  const [call] = message.tool_calls ?? []
  expect(call).toMatchObject({ function: { name: 'get_weather', arguments: '{"city":"Paris"}' } })
  const answered = await client.chat.completions.create({
    model: 'rules',
    messages: [
      { role: 'user', content: question },
      message,
      { role: 'tool', tool_call_id: call.id, content: 'rain' },
    ],
    tools,
  })
  expect(answered.choices[0].message.content).toBe('The tool says: rain')
  const none = await rules(question, { tools, tool_choice: 'none' })
  expect(none.choices[0].message.content).toBe('I follow rules. I call tools and fill schemas.')
  const clock = { type: 'function', function: { name: 'clock' } }
  const forced = await rules(question, { tools, tool_choice: clock })
  expect(forced.choices[0].message.tool_calls).toMatchObject([{ function: { name: 'clock' } }])
})

it('fills a schema by rules', async () => {
  const properties = {
    name: { type: 'string' },
    age: { type: 'integer' },
    pet: { enum: ['cat', 'dog'] },
  }
  const schema = { type: 'object', properties, required: ['name', 'age', 'pet'] }
  const response_format = { type: 'json_schema', json_schema: { name: 'person', schema } }
  const { choices } = await rules('Ann is 9 and has a dog', { response_format })
  expect(choices[0].message.content).toBe('{"name":"Ann","age":9,"pet":"dog"}')
})

it('ranks documents by the n-grams of the query', async () => {
  const documents = ['JPEG pictures', 'requests in a batch']
  const body = { model: 'tiny', query: 'batching of requests', documents }
  const { results } = await client.post<{ results: { index: number }[] }>('/rerank', { body })
  expect(results.map(({ index }) => index)).toEqual([1, 0])
})
