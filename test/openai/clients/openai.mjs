/** Asks the example by a package openai: `node openai.mjs URL PACKAGE`. Prints what it got as JSON. */
const [, , url, name] = process.argv
const { default: OpenAI } = await import(name)
const { zodResponseFormat, zodTextFormat } = await import(`${name}/helpers/zod`)
const { z } = await import('zod')
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
const messages = [{ role: 'user', content: 'What is the weather in Paris?' }]
const model = 'rules'
const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const tools = [{ type: 'function', function: { name: 'get_weather', parameters } }]
const { chat, completions, embeddings } = client

const { choices } = await chat.completions.create({ model: 'tiny', messages, seed: 1 })
const stream = await chat.completions.create({
  model: 'tiny',
  messages,
  seed: 1,
  stream: true,
  stream_options: { include_usage: true },
})
let streamed = ''
let counted = 0
for await (const chunk of stream) {
  streamed += chunk.choices[0]?.delta.content ?? ''
  counted = chunk.usage?.total_tokens ?? counted
}
const called = await chat.completions.create({ model, messages, tools })
const helped = await chat.completions.stream({ model, messages, tools }).finalFunctionToolCall()
let heard = ''
const runner = chat.completions.runTools({
  model,
  messages,
  tools: [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        parse: JSON.parse,
        function: ({ city }) => {
          heard = city
          return `rain in ${city}`
        },
        parameters,
      },
    },
  ],
})
const run = await runner.finalContent()
const parsed = await chat.completions.parse({
  model,
  messages: [{ role: 'user', content: 'Ann is 9 years old' }],
  response_format: zodResponseFormat(z.object({ name: z.string(), age: z.number() }), 'person'),
})
const url1 =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
const seen = await chat.completions.create({
  model,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is here?' },
        { type: 'image_url', image_url: { url: url1 } },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      ],
    },
  ],
})
const prompts = await completions.create({ model: 'tiny', prompt: ['The', 'A'], max_tokens: 2 })
const several = await chat.completions.create({ model: 'tiny', messages, n: 2 })
const vectors = await embeddings.create({ model: 'tiny', input: ['a', 'b'] })
const tokens = await embeddings.create({ model, input: [[1, 2], [3]] })
const refused = await chat.completions
  .create({ model: 'tiny', messages, tools })
  .catch(({ status, param }) => [status, param])
const { responses } = client
const flat = [{ type: 'function', name: 'get_weather', parameters, strict: false }]
const input = 'What is the weather in Paris?'
const types = []
for await (const { type } of await responses.create({ model: 'tiny', input, stream: true }))
  types.push(type)
const [asked] = (await responses.create({ model, input, tools: flat })).output
const filled = await responses.parse({
  model,
  input: 'Ann is 9 years old',
  text: { format: zodTextFormat(z.object({ name: z.string(), age: z.number() }), 'person') },
})
console.log(
  JSON.stringify({
    text: choices[0].message.content === streamed && streamed !== '',
    usage: counted > 0,
    tools: called.choices[0].message.tool_calls.map((each) => each.function),
    streamedTools: helped,
    runTools: [heard, run],
    structured: parsed.choices[0].message.parsed,
    parts: seen.choices[0].message.content,
    prompts: prompts.choices.length,
    n: several.choices.length,
    embeddings: vectors.data.length,
    tokens: tokens.data.length,
    refused,
    responses: [
      (await responses.create({ model: 'tiny', input })).output_text !== '',
      types.at(-1),
      [asked.name, asked.arguments],
      filled.output_parsed,
    ],
  }),
)
