import { readFileSync } from 'node:fs'
import type OpenAI from 'openai'
import { BadRequestError, InternalServerError } from 'openai'
import { describe, expect, it } from 'vitest'
import { acceptable } from '../../src/protocols/openai/model.ts'
import { engines } from '../engines.ts'
import { rejected, serveModels } from './harness.ts'

const messages = [{ role: 'user' as const, content: 'hello' }]
const tools = ['weather', 'clock'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object' } },
}))
const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
}
const person = { type: 'json_schema', json_schema: { name: 'person', schema, strict: true } }
type Extra = Record<string, unknown>

const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/images/${name}`, import.meta.url))
const png = `data:image/png;base64,${fixture('rgb.png').toString('base64')}`
const textPart = { type: 'text', text: 'look' }
const imagePart = { type: 'image_url', image_url: { url: png, detail: 'low' } }
const audioPart = {
  type: 'input_audio',
  input_audio: { data: Buffer.from('RIFF').toString('base64'), format: 'wav' },
}
const filePart = {
  type: 'file',
  file: { file_data: 'data:application/pdf;base64,JVBERg==', filename: 'a.pdf' },
}

describe.each(engines)('what a model of openai accepts on %s', (engine) => {
  const on = serveModels(engine, acceptable)
  const chat = (extra: Extra = {}) =>
    on.client.chat.completions.create({ model: 'able', messages, ...extra })
  const chunks = async (extra: Extra = {}) => {
    const stream = await on.client.chat.completions.create({
      model: 'able',
      messages,
      stream: true,
      ...extra,
    })
    const all: OpenAI.ChatCompletionChunk[] = []
    for await (const chunk of stream) all.push(chunk)
    return all
  }
  const ask = (...content: readonly object[]) => ({
    messages: [{ role: 'user', content }],
    say: ['parts'],
  })
  const askedOf = async () => (await on.runner.seen()).requests.at(-1)

  const say = [
    { reasoning: 'hm' },
    { tool_call: { name: 'weather', arguments: { city: 'Paris' } } },
    { tool_call: { id: 'mine', name: 'clock', arguments: '{"zo' } },
    { tool_call: { arguments: 'ne":' } },
    { tool_call: { index: 1, arguments: '1}' } },
  ]

  it('answers with the calls that a model makes, and gives it the tools as they came', async () => {
    const given = { tools, tool_choice: 'required', parallel_tool_calls: true }
    const { choices, usage } = await chat({ ...given, say })
    expect(choices).toMatchObject([
      {
        finish_reason: 'tool_calls',
        message: {
          content: null,
          reasoning_content: 'hm',
          tool_calls: [
            {
              id: expect.stringMatching(/^call_./),
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Paris"}' },
            },
            {
              id: 'mine',
              type: 'function',
              function: { name: 'clock', arguments: '{"zone":1}' },
            },
          ],
        },
      },
    ])
    expect(usage?.completion_tokens).toBe(5)
    expect(await askedOf()).toMatchObject(given)
  })

  it('streams calls as deltas', async () => {
    const all = await chunks({ tools, say })
    const deltas = all.map(({ choices }) => choices[0]?.delta)
    expect(deltas.flatMap((delta) => delta?.tool_calls ?? [])).toEqual([
      {
        index: 0,
        id: expect.stringMatching(/^call_./),
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Paris"}' },
      },
      { index: 1, id: 'mine', type: 'function', function: { name: 'clock', arguments: '{"zo' } },
      { index: 1, function: { arguments: 'ne":' } },
      { index: 1, function: { arguments: '1}' } },
    ])
    expect(deltas[1]).toEqual({ reasoning_content: 'hm' })
    expect(all.at(-1)?.choices[0].finish_reason).toBe('tool_calls')
    const helped = on.client.chat.completions.stream({
      model: 'able',
      messages,
      tools,
      say,
    } as never)
    expect(await helped.finalFunctionToolCall()).toEqual({ name: 'clock', arguments: '{"zone":1}' })
  })

  it('fails if a model calls nothing', async () => {
    for (const tool_call of [{ arguments: '{}' }, { index: 1, name: 'late' }, { name: 5 }]) {
      const error = await rejected(chat({ tools, say: [{ tool_call }] }))
      expect(error).toMatchObject({ status: 500, code: 'bad_output' })
    }
  })

  it.each([
    [person, '{"name":"Ann","age":9}'],
    [{ type: 'json_object' }, '{"any":[1]}'],
    [{ type: 'text' }, 'no JSON'],
  ])('sends a text that fits %j', async (response_format, text) => {
    const halves = [text.slice(0, 5), text.slice(5)]
    const { choices } = await chat({ response_format, say: halves })
    expect(choices[0].message.content).toBe(text)
    expect(await askedOf()).toMatchObject({ response_format })
  })

  it.each([
    [person, '{"name":"Ann"}', /expected the member age for the value, as response_format says/],
    [person, '{"name":"Ann","age":"x"}', /expected a value of type integer for age/],
    [person, '{"name":"Ann","age":9,"x":1}', /expected another value for x/],
    [person, '{"name"', /expected JSON/],
    [{ type: 'json_object' }, '[1]', /expected a value of type object/],
  ])('refuses to send a text that does not fit %j: %s', async (response_format, text, why) => {
    const error = await rejected(chat({ response_format, say: [text] }))
    expect(error).toBeInstanceOf(InternalServerError)
    expect(error).toMatchObject({ code: 'bad_output', param: 'response_format' })
    expect(error.message).toMatch(why)
    // The text is sent already.
    const late = await rejected(chunks({ response_format, say: [text] }))
    expect(late.message).toMatch(why)
  })

  it('sends a text that was cut, and one beside a call, as they are', async () => {
    const cut = await chat({ response_format: person, say: ['{"na', 'me"'], max_tokens: 1 })
    expect(cut.choices[0]).toMatchObject({ message: { content: '{"na' }, finish_reason: 'length' })
    const call = { tool_call: { name: 'clock' } }
    const called = await chat({ response_format: person, tools, say: ['wait', call] })
    expect(called.choices[0]).toMatchObject({
      message: { content: 'wait' },
      finish_reason: 'tool_calls',
    })
  })

  it('ends a schema that refers to itself, and one that branches for ever', async () => {
    const $ref = '#/$defs/a'
    for (const a of [{ $ref }, { anyOf: [{ type: 'null' }, { $ref }, { $ref }] }]) {
      const looping = { type: 'json_schema', json_schema: { schema: { $ref, $defs: { a } } } }
      const error = await rejected(chat({ response_format: looping, say: ['1'] }))
      expect(error).toBeInstanceOf(BadRequestError)
      expect(error.message).toMatch(/a schema that takes at most/)
    }
  })

  it('answers n times, by seeds that follow each other', async () => {
    const asked = { n: 3, seed: 5, say: ['seed'] }
    const { choices, usage } = await chat(asked)
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, 'seed 5'],
      [1, 'seed 6'],
      [2, 'seed 7'],
    ])
    expect(usage).toEqual({ prompt_tokens: 0, completion_tokens: 3, total_tokens: 3 })
    const texts = ['', '', '']
    const all = await chunks(asked)
    for (const {
      choices: [choice],
    } of all)
      texts[choice.index] += choice.delta.content ?? ''
    expect(texts).toEqual(['seed 5', 'seed 6', 'seed 7'])
    const ends = all.filter(({ choices }) => choices[0].finish_reason === 'stop')
    expect(ends.map(({ choices }) => choices[0].index)).toEqual([0, 1, 2])
    const error = await rejected(chat({ n: 129 }))
    expect(error).toMatchObject({ status: 400, param: 'n' })
  })

  it('ends all answers if one fails', async () => {
    const { ended } = await on.runner.seen()
    const counts = { usage: { prompt_tokens: 2, completion_tokens: 4, cached: 1 } }
    expect((await chat({ say: ['a', counts] })).usage).toEqual({
      ...counts.usage,
      total_tokens: 6,
    })
    await rejected(chat({ n: 2, say: ['a', 'fail'] }))
    await expect.poll(async () => (await on.runner.seen()).ended).toBe(ended + 3)
  })

  it('completes each prompt of a list, and lists of tokens', async () => {
    const complete = (prompt: unknown, extra = {}) =>
      on.client.completions.create({ model: 'able', prompt, say: ['prompt'], ...extra } as never)
    const textsOf = async (prompt: unknown, extra = {}) =>
      (await complete(prompt, extra)).choices.map(({ text }) => text)
    expect(await textsOf(['a', 'b'])).toEqual(['"a"', '"b"'])
    expect(await textsOf(['a', 'b'], { n: 2 })).toEqual(['"a"', '"a"', '"b"', '"b"'])
    expect(await textsOf([1, 2])).toEqual(['[1,2]'])
    expect(await textsOf([[1, 2], [3]])).toEqual(['[1,2]', '[3]'])
    const counts = [{ text: 'x', usage: { prompt_tokens: 5 } }]
    expect((await complete(['a', 'b'], { n: 2, say: counts })).usage).toEqual({
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 14,
    })
    const many = await rejected(complete(['a', 'b'], { n: 65 }))
    expect(many).toMatchObject({ status: 400, param: 'n' })
    const error = await rejected(
      on.client.completions.create({ model: 'said', prompt: [1, 2] } as never),
    )
    expect(error.message).toMatch(/as the model said does not accept tokens, for prompt/)
  })

  it('embeds lists of tokens', async () => {
    const embed = async (model: string, input: unknown) => {
      const asked = { model, input, encoding_format: 'float' }
      const { data } = await on.client.embeddings.create(asked as never)
      return data.map(({ embedding }) => embedding[0])
    }
    expect(await embed('able', [[1, 2, 3], [4]])).toEqual([3, 1])
    expect(await embed('able', [1, 2])).toEqual([2])
    const error = await rejected(embed('said', [1, 2]))
    expect(error.message).toMatch(/as the model said does not accept tokens, for input/)
  })

  it('tells how likely tokens were', async () => {
    const top_logprobs = [
      { token: 'ä', logprob: -0.5 },
      { token: 'b', logprob: -2 },
    ]
    const tokens = [
      { text: 'ä', logprobs: [{ token: 'ä', logprob: -0.5, top_logprobs }] },
      { text: 'c', logprobs: [{ token: 'c', logprob: -1 }] },
    ]
    const first = {
      token: 'ä',
      logprob: -0.5,
      bytes: [195, 164],
      top_logprobs: [
        { token: 'ä', logprob: -0.5, bytes: [195, 164] },
        { token: 'b', logprob: -2, bytes: [98] },
      ],
    }
    const second = { token: 'c', logprob: -1, bytes: [99], top_logprobs: [] }
    const asked = { logprobs: true, top_logprobs: 2, say: tokens }
    const whole = await chat(asked)
    expect(whole.choices[0].logprobs).toEqual({ content: [first, second], refusal: null })
    const streamed = (await chunks(asked)).flatMap(
      ({ choices }) => choices[0].logprobs?.content ?? [],
    )
    expect(streamed).toEqual([first, second])
    const { choices } = await on.client.completions.create({
      model: 'able',
      prompt: 'x',
      logprobs: 2,
      say: tokens,
    } as never)
    expect(choices[0].logprobs).toEqual({
      tokens: ['ä', 'c'],
      token_logprobs: [-0.5, -1],
      top_logprobs: [{ ä: -0.5, b: -2 }, {}],
    })
  })

  it('decodes pictures, sound and files', async () => {
    const { choices } = await chat(ask(textPart, imagePart, audioPart, filePart))
    // As Pillow reads the picture: test/fixtures/images/pictures.json.
    expect(JSON.parse(choices[0].message.content ?? '')).toEqual([
      textPart,
      {
        type: 'image_url',
        detail: 'low',
        image: { mode: 'RGB', width: 24, height: 18, first: [0, 0, 0, 11, 0, 5] },
      },
      { type: 'input_audio', mimeType: 'audio/wav', text: 'RIFF' },
      { type: 'file', mimeType: 'application/pdf', name: 'a.pdf', text: '%PDF' },
    ])
  })

  it.each<[object, RegExp, string]>([
    [
      { type: 'image_url', image_url: { url: 'http://127.0.0.1/a' } },
      /a data: URL/,
      'image_url.url',
    ],
    [{ type: 'image_url', image_url: { url: 'data:,x' } }, /a data: URL/, 'image_url.url'],
    [{ type: 'image_url', image_url: { url: 'data:;base64,?' } }, /base64/, 'image_url.url'],
    [{ type: 'image_url', image_url: { url: 'data:;base64,AAAA' } }, /a picture/, 'image_url'],
    [{ type: 'image_url', image_url: { url: 'data:text/css;base64,AAAA' } }, /image/, 'image_url'],
    [{ type: 'image_url' }, /an object/, 'image_url'],
    [{ type: 'input_audio', input_audio: { data: 'AAAA' } }, /a format/, 'input_audio.format'],
    [{ type: 'file', file: { file_id: 'x' } }, /a data: URL/, 'file.file_data'],
    [{ type: '__proto__' }, /of type text/, ''],
  ])('refuses the part %j', async (part, why, place) => {
    const error = await rejected(chat(ask(textPart, part)))
    expect([400, 415]).toContain(error.status)
    const path = place === '' ? '' : `.${place}`
    expect(error).toMatchObject({ param: `messages[0].content[1]${path}` })
    expect(error.message).toMatch(why)
  })

  it.each<[Extra, string, string]>([
    [{ tools }, 'tools', 'tools'],
    [{ tool_choice: 'required' }, 'tool_choice', 'tools'],
    [{ response_format: person }, 'response_format', 'response_format'],
    [{ n: 2 }, 'n', 'n'],
    [{ logprobs: true }, 'logprobs', 'logprobs'],
    [{ echo: true }, 'echo', 'echo'],
    [{ suffix: 'x' }, 'suffix', 'suffix'],
    [ask(imagePart), 'messages[0].content[0]', 'images'],
    [ask(audioPart), 'messages[0].content[0]', 'audio'],
    [ask(filePart), 'messages[0].content[0]', 'files'],
  ])('names what a model does not accept: %j', async (extra, param, needs) => {
    const error = await rejected(chat({ ...extra, model: 'said' }))
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ param, code: 'bad_input' })
    expect(error.message).toContain(`as the model said does not accept ${needs}, for ${param}`)
  })

  it.each<[Extra, string]>([
    [{ tools: {} }, 'tools'],
    [{ tools: ['x'] }, 'tools'],
    [{ n: 0 }, 'n'],
    [{ response_format: 'json' }, 'response_format'],
    [{ response_format: { type: 'xml' } }, 'response_format.type'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [{ best_of: 2 }, 'best_of'],
    [{ modalities: ['audio'] }, 'modalities'],
  ])('refuses %j of any model', async (extra, param) => {
    expect(await rejected(chat(extra))).toMatchObject({ status: 400, param })
  })
})
