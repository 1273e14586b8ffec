/**
 * The cases of the compliance program of Open Responses, as far as its public list says. That program was not run.
 *
 * @see openresponses.org/compliance
 * @module
 */
import { describe, expect, it } from 'vitest'
import { engines } from '../engines.ts'
import { key, serveModels } from './harness.ts'
import { faultsOf } from './open-responses.ts'

interface Response {
  readonly status: string
  readonly output: readonly { readonly type: string }[]
}

// A red heart would do as well: one pixel.
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const user = (content: unknown) => ({ type: 'message', role: 'user', content })
const tools = [
  {
    type: 'function',
    name: 'get_weather',
    description: 'Get the current weather for a location',
    parameters: {
      type: 'object',
      properties: { location: { type: 'string' } },
      required: ['location'],
    },
  },
]
const calling = {
  input: [user("What's the weather like in San Francisco?")],
  tools,
  say: [{ tool_call: { name: 'get_weather', arguments: '{"location":"San Francisco"}' } }],
}
const cases = {
  'basic response': { input: [user('Say hello in exactly 3 words.')] },
  'system prompt': {
    input: [{ type: 'message', role: 'system', content: 'You are a pirate.' }, user('Say hello.')],
  },
  'tool calling': calling,
  'image input': {
    input: [
      user([
        { type: 'input_text', text: 'What do you see?' },
        { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
      ]),
    ],
    say: ['parts'],
  },
  'multi-turn': {
    input: [
      user('My name is Alice.'),
      { type: 'message', role: 'assistant', content: 'Hello Alice!' },
      user('What is my name?'),
    ],
  },
}

describe.each(engines)('cases of Open Responses on %s', (engine) => {
  const on = serveModels(engine, ['tools', 'images'])
  const post = (body: object) =>
    fetch(`${on.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'able', ...body }),
    })

  it.each(Object.entries(cases))('%s', async (_, body) => {
    const answer = await post(body)
    const response = (await answer.json()) as Response
    expect(answer.status, JSON.stringify(response)).toBe(200)
    expect(faultsOf('response', response)).toEqual([])
    expect(response.status).toBe('completed')
    const types = response.output.map(({ type }) => type)
    expect(types).toEqual([body === calling ? 'function_call' : 'message'])
  })

  it.each([
    ['streaming response', cases['basic response'], 'response.output_text'],
    ['streaming tool call', calling, 'response.function_call_arguments'],
  ])('%s', async (_, body, kind) => {
    const text = await (await post({ ...body, stream: true })).text()
    const blocks = text.split('\n\n').filter((block) => block !== '')
    expect(blocks.pop()).toBe('data: [DONE]')
    const types = blocks.map((block) => {
      const [name, data] = block.split('\n')
      const event = JSON.parse(data.slice('data: '.length))
      expect(faultsOf('event', event)).toEqual([])
      expect(name).toBe(`event: ${event.type}`)
      return event.type
    })
    expect(types).toEqual(
      expect.arrayContaining([
        'response.created',
        'response.output_item.added',
        `${kind}.delta`,
        `${kind}.done`,
        'response.output_item.done',
      ]),
    )
    expect(types.at(-1)).toBe('response.completed')
  })
})
