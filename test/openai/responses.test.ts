import { BadRequestError, InternalServerError, NotFoundError } from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { engines } from '../engines.ts'
import { eventsOfText, key, rejected, serveModels } from './harness.ts'
import { faultsOf } from './open-responses.ts'

const input = 'What is the weather in Paris?'
const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: { type: 'object', properties: { location: { type: 'string' } } },
  strict: null,
}
const call = { tool_call: { name: 'get_weather', arguments: '{"location":' } }
const calls = [call, { tool_call: { arguments: '"Paris"}' } }]

type Extra = Record<string, unknown>

describe.each(engines)('responses on %s', (engine) => {
  const on = serveModels(engine, ['tools', 'response_format', 'logprobs'])
  const create = async (extra: Extra = {}): Promise<Response> => {
    const response = await on.client.responses.create({ model: 'able', input, ...extra })
    expect(faultsOf('response', JSON.parse(JSON.stringify(response)))).toEqual([])
    return response as Response
  }
  const stream = async (extra: Extra = {}): Promise<ResponseStreamEvent[]> => {
    const body = { model: 'able', input, stream: true as const, ...extra }
    const events: ResponseStreamEvent[] = []
    for await (const event of await on.client.responses.create(body)) events.push(event)
    for (const event of events) expect(faultsOf('event', event)).toEqual([])
    expect(events.map((each) => each.sequence_number)).toEqual(events.map((_, i) => i))
    return events
  }
  const post = (body: unknown) =>
    fetch(`${on.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const lastSeen = async () => {
    const { requests } = await on.runner.seen()
    return requests.at(-1) as Extra & { messages: Extra[] }
  }

  it('answers a text', async () => {
    const response = await create({ metadata: { a: 'b' }, temperature: 0.5 })
    expect(response.output_text).toBe('one two three')
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'able',
      store: false,
      background: false,
      temperature: 0.5,
      metadata: { a: 'b' },
      usage: { input_tokens: 0, output_tokens: 3, total_tokens: 3 },
      output: [{ type: 'message', role: 'assistant', status: 'completed' }],
    })
    expect(response.id).toMatch(/^resp_/)
    expect(response.completed_at).toBeGreaterThanOrEqual(response.created_at)
    expect((await lastSeen()).messages).toEqual([{ role: 'user', content: input }])
  })

  it('sends all events of a text in their order', async () => {
    const events = await stream()
    expect(events.map(({ type }) => type)).toEqual(eventsOfText)
    const [created] = events as unknown as [{ response: Response }]
    expect(created.response).toMatchObject({ status: 'in_progress', output: [] })
    const text = await (await post({ model: 'able', input, stream: true })).text()
    expect(text).toMatch(/^event: response\.created\ndata: \{/)
    expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true)
  })

  it('is what the helper of the client makes of its events', async () => {
    const say = [{ reasoning: 'hm' }, 'Now ', 'I call.', ...calls, { usage: { prompt_tokens: 7 } }]
    const helper = on.client.responses.stream({
      model: 'able',
      input,
      tools: [weather],
      say,
    } as never)
    const final = await helper.finalResponse()
    const whole = await create({ tools: [weather], say })
    const bare = (response: unknown) =>
      JSON.parse(
        JSON.stringify(response).replace(/"(id|\w+_at)":("[^"]*"|\d+)/g, '"$1":0'),
        (name, value) =>
          /^(parsed|output_parsed|parsed_arguments|call_id)$/.test(name) ? undefined : value,
      )
    expect(bare(final)).toEqual(bare(whole))
    expect(whole.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
    expect(whole.output[0]).toMatchObject({ summary: [{ type: 'summary_text', text: 'hm' }] })
    expect(whole.output[2]).toMatchObject({
      name: 'get_weather',
      arguments: '{"location":"Paris"}',
    })
    expect(whole.usage?.input_tokens).toBe(7)
  })

  it('streams calls of tools, also of several at a time', async () => {
    const say = [
      ...calls,
      { tool_call: { name: 'get_weather', arguments: { location: 'Rome' } } },
      { tool_call: { index: 0, arguments: ' ' } },
    ]
    const events = await stream({ tools: [weather], tool_choice: 'required', say })
    const types = events.map(({ type }) => type)
    expect(types.filter((type) => type === 'response.output_item.added')).toHaveLength(2)
    const { response } = events.at(-1) as { response: Response }
    expect(response.output).toMatchObject([
      { type: 'function_call', arguments: '{"location":"Paris"} ', status: 'completed' },
      { type: 'function_call', arguments: '{"location":"Rome"}' },
    ])
    const done = events.filter(({ type }) => type === 'response.function_call_arguments.done')
    expect(done.map((each) => (each as { arguments: string }).arguments)).toEqual([
      '{"location":"Paris"} ',
      '{"location":"Rome"}',
    ])
    expect(await lastSeen()).toMatchObject({
      tool_choice: 'required',
      tools: [
        { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } },
      ],
    })
  })

  it('takes a conversation of all kinds of items', async () => {
    await create({
      instructions: 'Be short.',
      input: [
        { type: 'message', role: 'developer', content: 'In French.' },
        { role: 'user', content: [{ type: 'input_text', text: input }] },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
        { type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '{}' },
        { type: 'function_call', call_id: 'c2', name: 'get_weather', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'sun' },
        {
          type: 'function_call_output',
          call_id: 'c2',
          output: [{ type: 'input_text', text: 'rain' }],
        },
        { role: 'user', content: 'And?' },
      ],
    })
    const calledAs = (id: string, args: string) => ({
      id,
      type: 'function',
      function: { name: 'get_weather', arguments: args },
    })
    expect((await lastSeen()).messages).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'developer', content: 'In French.' },
      { role: 'user', content: input },
      {
        role: 'assistant',
        content: 'I look.',
        reasoning_content: 'hm',
        tool_calls: [calledAs('c1', '{}'), calledAs('c2', '{"a":1}')],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'sun' },
      { role: 'tool', tool_call_id: 'c2', content: 'rain' },
      { role: 'user', content: 'And?' },
    ])
  })

  it('parses an answer by its schema, and refuses one that does not fit', async () => {
    const format = zodTextFormat(z.object({ city: z.string() }), 'place')
    const parsed = await on.client.responses.parse({
      model: 'able',
      input,
      text: { format },
      say: ['{"city":', '"Paris"}'],
    } as never)
    expect(parsed.output_parsed).toEqual({ city: 'Paris' })
    expect(faultsOf('response', JSON.parse(JSON.stringify(parsed)))).toEqual([])
    const wrong = await rejected(create({ text: { format }, say: ['{"town":1}'] }))
    expect(wrong).toBeInstanceOf(InternalServerError)
    expect(await lastSeen()).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'place' } },
    })
  })

  it('tells log probabilities', async () => {
    const say = [{ text: 'é', logprobs: [{ token: 'é', logprob: -0.5 }] }]
    const ask = { say, include: ['message.output_text.logprobs'], top_logprobs: 1 }
    const [, , , , delta] = await stream(ask)
    const logprobs = [{ token: 'é', logprob: -0.5, bytes: [195, 169], top_logprobs: [] }]
    expect(delta).toMatchObject({ type: 'response.output_text.delta', logprobs })
    const { output } = await create(ask)
    expect(output).toMatchObject([{ content: [{ logprobs }] }])
    expect(await lastSeen()).toMatchObject({ logprobs: true, top_logprobs: 1 })
  })

  it('is incomplete at the limit', async () => {
    const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    const response = await create({ max_output_tokens: 2 })
    expect(response).toMatchObject({ ...cut, max_output_tokens: 2, completed_at: null })
    expect(response.output_text).toBe('one two ')
    expect((await stream({ max_output_tokens: 2 })).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: cut,
    })
  })

  it('tells a failure by its status, or by the last event', async () => {
    expect(await rejected(create({ say: ['fail'] }))).toBeInstanceOf(InternalServerError)
    expect(await rejected(stream({ say: ['fail'] }))).toBeInstanceOf(InternalServerError)
    const events = await stream({ say: ['one ', 'fail'] })
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'function_error', message: 'the server or its model failed' },
      },
    })
  })

  it('ends the model if the client leaves', async () => {
    const { ended } = await on.runner.seen()
    const body = { model: 'able', input, stream: true as const, say: ['forever'] }
    const events = await on.client.responses.create(body as never)
    for await (const _ of events as never as AsyncIterable<unknown>) break
    await expect.poll(async () => (await on.runner.seen()).ended).toBe(ended + 1)
  })

  it.each([
    [{ model: 'other' }, NotFoundError, 'model'],
    [{ input: [] }, BadRequestError, 'input'],
    [{ input: [{ type: 'web_search_call', id: 'x' }] }, BadRequestError, 'input[0].type'],
    [{ input: [{ role: 'robot', content: 'a' }] }, BadRequestError, 'input[0].role'],
    [{ input: [{ type: 'reasoning', summary: 'hm' }] }, BadRequestError, 'input[0].summary'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      BadRequestError,
      'input[0].content[0]',
    ],
    [
      { input: [{ type: 'function_call', call_id: 'c', name: 'f' }] },
      BadRequestError,
      'input[0].arguments',
    ],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, BadRequestError, 'input[0].id'],
    [{ tools: [{ type: 'function' }] }, BadRequestError, 'tools[0]'],
    [{ tools: [{ name: 'x' }] }, BadRequestError, 'tools[0]'],
    [{ tool_choice: { type: 'file_search' } }, BadRequestError, 'tool_choice'],
    [{ temperature: 3 }, BadRequestError, 'temperature'],
    [{ max_output_tokens: 0 }, BadRequestError, 'max_output_tokens'],
    [{ stream: 'yes' }, BadRequestError, 'stream'],
    [{ conversation: 'conv_1' }, BadRequestError, 'conversation'],
    [{ prompt: { id: 'p' } }, BadRequestError, 'prompt'],
    [{ store: true }, BadRequestError, 'store'],
    [{ background: true }, BadRequestError, 'background'],
    [{ previous_response_id: 'resp_1' }, BadRequestError, 'previous_response_id'],
  ])('refuses %j', async (extra, kind, param) => {
    const error = await rejected(
      on.client.responses.create({ model: 'able', input, ...extra } as never),
    )
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject({ param })
  })

  it('names what a model does not accept as the request does', async () => {
    const ask = { model: 'said', text: { format: { type: 'json_object' } } }
    const error = await rejected(on.client.responses.create({ input, ...ask } as never))
    expect(error).toMatchObject({ status: 400, param: 'text.format' })
    expect(error.message).toContain('text.format')
  })

  it('has no responses to look at', async () => {
    expect(await rejected(on.client.responses.retrieve('resp_1'))).toBeInstanceOf(NotFoundError)
  })

  it('allows some of the tools', async () => {
    const other = { ...weather, name: 'other' }
    const choice = {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'other' }],
    }
    await create({ tools: [weather, other], tool_choice: choice })
    const { tools, tool_choice } = (await lastSeen()) as never as {
      tools: Extra[]
      tool_choice: unknown
    }
    expect(tool_choice).toBe('required')
    expect(tools).toMatchObject([{ function: { name: 'other' } }])
  })
})
