import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import OpenAI, {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
} from 'openai'
import { describe, expect, it } from 'vitest'
import { canImport, python } from '../docs/python.ts'
import { engines } from '../engines.ts'
import { key, rejected, serveModels } from './harness.ts'

const messages = [{ role: 'user' as const, content: 'hello' }]
type Extra = Record<string, unknown>

describe.each(engines)('openai on %s', (engine) => {
  const on = serveModels(engine)
  const chat = (extra: Extra = {}) =>
    on.client.chat.completions.create({ model: 'said', messages, ...extra })
  const chunks = async (extra: Extra = {}) => {
    const stream = await on.client.chat.completions.create({
      model: 'said',
      messages,
      stream: true,
      ...extra,
    })
    const all: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of stream) all.push(chunk)
    return all
  }
  const textOf = (all: readonly OpenAI.ChatCompletionChunk[]) =>
    all.map(({ choices }) => choices[0]?.delta.content ?? '').join('')

  it('lists its models and describes one', async () => {
    const { data } = await on.client.models.list()
    expect(data).toMatchObject([
      { id: 'said', object: 'model', owned_by: 'serving' },
      { id: 'org/embedder', object: 'model' },
    ])
    expect(await on.client.models.retrieve('org/embedder')).toMatchObject({
      id: 'org/embedder',
      object: 'model',
    })
    const error = await rejected(on.client.models.retrieve('other'))
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error).toMatchObject({
      code: 'model_not_found',
      param: 'model',
      type: 'invalid_request_error',
    })
  })

  it('answers a chat as one object', async () => {
    const answer = await chat()
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'said',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'one two three' },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 0, completion_tokens: 3, total_tokens: 3 },
    })
    expect(answer.id).toMatch(/^chatcmpl-./)
    expect(answer._request_id).toMatch(/./)
  })

  it('sends a chat by events, with counts if asked', async () => {
    const all = await chunks()
    expect(
      all.map(({ choices: [{ delta, finish_reason }] }) => ({ ...delta, finish_reason })),
    ).toEqual([
      { role: 'assistant', content: '', finish_reason: null },
      { content: 'one ', finish_reason: null },
      { content: 'two ', finish_reason: null },
      { content: 'three', finish_reason: null },
      { finish_reason: 'stop' },
    ])
    expect(
      all.every((chunk) => chunk.object === 'chat.completion.chunk' && chunk.id === all[0].id),
    ).toBe(true)
    expect(all.every((chunk) => !('usage' in chunk))).toBe(true)
    const counted = await chunks({ stream_options: { include_usage: true } })
    expect(counted.slice(0, -1).every(({ usage }) => usage === null)).toBe(true)
    expect(counted.at(-1)).toMatchObject({
      choices: [],
      usage: { completion_tokens: 3, total_tokens: 3 },
    })
    expect(textOf(await chunks({ say: [] }))).toBe('')
  })

  it('completes a text, whole and by events', async () => {
    const answer = await on.client.completions.create({ model: 'said', prompt: ['once'] })
    expect(answer).toMatchObject({
      object: 'text_completion',
      choices: [{ index: 0, text: 'one two three', finish_reason: 'stop' }],
      usage: { completion_tokens: 3 },
    })
    let text = ''
    const stream = await on.client.completions.create({
      model: 'said',
      prompt: 'once',
      stream: true,
    })
    for await (const { choices } of stream) text += choices[0].text
    expect(text).toBe('one two three')
  })

  it('tells the counts and the reason that the model tells', async () => {
    const say = [
      'a',
      { text: 'b', usage: { prompt_tokens: 7 } },
      { usage: { completion_tokens: 9 }, finish_reason: 'content_filter' },
    ]
    expect(await chat({ say })).toMatchObject({
      choices: [{ message: { content: 'ab' }, finish_reason: 'content_filter' }],
      usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 },
    })
  })

  it('ends a text after max_tokens texts, but reads the counts that come after them', async () => {
    for (const name of ['max_tokens', 'max_completion_tokens']) {
      expect(
        await chat({ [name]: 2, say: ['a', 'b', { usage: { prompt_tokens: 5 } }, 'forever'] }),
      ).toMatchObject({
        choices: [{ message: { content: 'ab' }, finish_reason: 'length' }],
        usage: { prompt_tokens: 5, completion_tokens: 2 },
      })
    }
  })

  it.each([
    [['a sto', 'p here'], 'stop', 'a '],
    [['a sto', 're'], ['stop', 'x'], 'a store'],
    [['a', 'b', 'c', 'd'], ['cd', 'bx'], 'ab'],
    [['aab'], ['b', 'ab'], 'a'],
    [['xsto'], 'stop', 'xsto'],
    [['ss', 's', 'top'], 'stop', 'ss'],
  ])('ends %j in front of %j', async (say, stop, text) => {
    expect((await chat({ say, stop })).choices[0]).toMatchObject({
      message: { content: text },
      finish_reason: 'stop',
    })
    expect(textOf(await chunks({ say, stop }))).toBe(text)
  })

  it('ends a model that runs on behind stop', async () => {
    const { ended } = await on.runner.seen()
    expect(textOf(await chunks({ say: ['a', 'forever'], stop: ' tick ti' }))).toBe('atick')
    await expect.poll(async () => (await on.runner.seen()).ended).toBe(ended + 1)
  })

  it.each(['stream', 'whole'])('ends the model if the client leaves: %s', async (how) => {
    const { ended, requests } = await on.runner.seen()
    const before = requests.length
    const abort = new AbortController()
    const body = { model: 'said', messages, say: ['forever'] }
    if (how === 'stream') {
      const stream = await on.client.chat.completions.create(
        { ...body, stream: true },
        { signal: abort.signal },
      )
      for await (const chunk of stream) if (chunk.choices[0].delta.content === 'tick ') break
    } else {
      const asked = on.client.chat.completions
        .create(body, { signal: abort.signal })
        .catch(() => 'left')
      await expect.poll(async () => (await on.runner.seen()).requests.length).toBe(before + 1)
      abort.abort()
      expect(await asked).toBe('left')
    }
    await expect.poll(async () => (await on.runner.seen()).ended).toBe(ended + 1)
  })

  it('gives the model the request by the names of the API', async () => {
    await chat({
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: null, name: 'x' },
      ],
      max_completion_tokens: 5,
      temperature: 0.5,
      top_p: null,
      stop: '!',
      seed: 3,
      top_k: 9,
      n: 1,
      tools: [],
    })
    expect((await on.runner.seen()).requests.at(-1)).toEqual({
      model: 'said',
      messages: [
        { role: 'system', content: 'a\nb' },
        { role: 'assistant', content: '', name: 'x' },
      ],
      max_tokens: 5,
      temperature: 0.5,
      stop: ['!'],
      seed: 3,
      top_k: 9,
      n: 1,
      tools: [],
    })
  })

  it('takes what changes nothing: tools that must not be called, a choice among none, no limit', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    for (const extra of [
      { tool_choice: 'auto' },
      { tools, tool_choice: 'none' },
      { max_tokens: -1 },
    ])
      expect((await chat(extra)).choices[0].message.content).toBe('one two three')
    expect((await on.runner.seen()).requests.at(-1)).not.toHaveProperty('max_tokens')
  })

  it.each<[Extra, string, RegExp]>([
    [{ n: 2 }, 'n', /expected nothing but 1, as the model said does not accept n.+received 2/],
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools', /nothing but \[\]/],
    [
      { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'auto' },
      'tools',
      /nothing but \[\]/,
    ],
    [{ tool_choice: 'required' }, 'tool_choice', /nothing but "none"/],
    [{ max_tokens: -2 }, 'max_tokens', /from 1 up/],
    [{ response_format: { type: 'json_object' } }, 'response_format', /nothing but/],
    [{ logprobs: true }, 'logprobs', /nothing but false/],
    [{ max_tokens: 0 }, 'max_tokens', /from 1 up/],
    [{ temperature: 3 }, 'temperature', /from 0 to 2/],
    [{ temperature: 'hot' }, 'temperature', /a number/],
    [{ seed: 0.5 }, 'seed', /a whole number/],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', /at most 4/],
    [{ stop: '' }, 'stop', /1 to 256/],
    [{ stream: 'yes' }, 'stream', /true or false/],
    [{ stream_options: 1 }, 'stream_options', /an object/],
    [{ messages: [] }, 'messages', /a list of messages/],
    [{ messages: ['hi'] }, 'messages[0]', /an object/],
    [{ messages: [{ content: 'hi' }] }, 'messages[0].role', /a text/],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content', /a list of parts/],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      'messages[0].content[0]',
      /type text/,
    ],
    [{ model: 'org/embedder' }, 'model', /expected one of said for model.+cannot chat/],
  ])('refuses %j', async (extra, param, message) => {
    const error = await rejected(chat(extra))
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ param, code: 'bad_input', type: 'invalid_request_error' })
    expect(error.message).toMatch(message)
  })

  it('refuses prompts that are no texts, and tokens', async () => {
    for (const prompt of [[['a']], [1, 2], [], undefined]) {
      const error = await rejected(
        on.client.completions.create({ model: 'said', prompt: prompt as never }),
      )
      expect(error).toMatchObject({ status: 400, param: 'prompt' })
    }
    const error = await rejected(on.client.embeddings.create({ model: 'said', input: [1, 2] }))
    expect(error).toMatchObject({ status: 400, param: 'input' })
  })

  it('tells in its own shape of wrong JSON, unknown paths, methods, large bodies and unknown callers', async () => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const ask = async (path: string, init: RequestInit) => {
      const response = await fetch(`${on.url}${path}`, { headers, ...init })
      return { status: response.status, ...((await response.json()) as { error: Extra }).error }
    }
    const post = (body: string) => ask('/v1/chat/completions', { method: 'POST', body })
    expect(await post('{')).toMatchObject({ status: 400, code: 'bad_input', param: null })
    expect(await post('[]')).toMatchObject({
      status: 400,
      message: expect.stringContaining('an object'),
    })
    expect(await post(' '.repeat(100_001))).toMatchObject({
      status: 413,
      code: 'payload_too_large',
    })
    expect(await ask('/v1/other', {})).toMatchObject({ status: 404, type: 'invalid_request_error' })
    expect(await ask('/v1/chat/completions', {})).toMatchObject({
      status: 405,
      code: 'method_not_allowed',
    })
    const stranger = new OpenAI({ apiKey: 'other', baseURL: `${on.url}/v1`, maxRetries: 0 })
    const error = await rejected(stranger.models.list())
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(error).toMatchObject({ type: 'authentication_error', code: 'unauthorized' })
  })

  it('answers 500 without the reason if the model fails, and a status of its own if it refuses', async () => {
    for (const stream of [false, true]) {
      const error = await rejected(chat({ say: ['fail'], stream }) as Promise<unknown>)
      expect(error).toBeInstanceOf(InternalServerError)
      expect(error).toMatchObject({ type: 'server_error', code: 'function_error' })
      expect(error.message).not.toContain('secret')
      expect(await rejected(chat({ say: ['refuse'], stream }))).toMatchObject({ status: 401 })
    }
    expect(await rejected(chat({ say: ['ok', 'fail'] }))).toMatchObject({ status: 500 })
    expect(await rejected(chat({ say: [5] }))).toMatchObject({ status: 500, code: 'bad_output' })
  })

  it('ends a stream that fails later by an error event', async () => {
    const stream = await on.client.chat.completions.create({
      model: 'said',
      messages,
      stream: true,
      say: ['ok', 'fail'],
    } as never)
    const texts: unknown[] = []
    const read = (async () => {
      for await (const chunk of stream as never as AsyncIterable<OpenAI.ChatCompletionChunk>)
        texts.push(chunk.choices[0].delta.content)
    })()
    const error = await rejected(read)
    expect(error).toMatchObject({ type: 'server_error', code: 'function_error' })
    expect(texts).toEqual(['', 'ok'])
  })
  it.skipIf(!canImport('openai'))(
    'answers the openai package of PyPI (PYTHON names a Python that has it)',
    async () => {
      const program = fileURLToPath(new URL('./python/client.py', import.meta.url))
      const { stdout } = await promisify(execFile)(python, [program, on.url, key])
      expect(JSON.parse(stdout)).toEqual({
        models: ['said', 'org/embedder'],
        model: 'org/embedder',
        whole: ['one two ', 3],
        chunks: ['', 'one ', 'two ', 'three', null],
        usage: 3,
        text: ['one two ', 'length'],
        vectors: [7, 1],
        late: ['', 'ok', 'function_error'],
        refused: [
          ['BadRequestError', 'bad_input', 'n'],
          ['NotFoundError', 'model_not_found', 'model'],
          ['AuthenticationError', 'unauthorized', null],
        ],
      })
    },
  )

  it('is in the document of the service', async () => {
    const document = await (
      await fetch(`${on.url}/openapi.json`, { headers: { authorization: `Bearer ${key}` } })
    ).json()
    const { paths } = document as { readonly paths: Readonly<Record<string, object>> }
    const body = (model: object) => {
      const schema = { properties: { model } }
      return { post: { requestBody: { content: { 'application/json': { schema } } } } }
    }
    expect(paths['/v1/chat/completions']).toMatchObject({ post: { operationId: 'openai_chat' } })
    // Those that have the method.
    expect(paths).toMatchObject({
      '/v1/chat/completions': body({ type: 'string', enum: ['said'] }),
      '/v1/embeddings': body({ type: 'string', enum: ['said', 'org/embedder'] }),
      '/v1/responses': body({ type: 'string', enum: ['said'] }),
    })
    expect(Object.keys(paths).filter((path) => path.startsWith('/v1/'))).toHaveLength(8)
  })
})
