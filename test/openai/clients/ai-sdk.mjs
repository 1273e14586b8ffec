/** Asks the example by the AI SDK: `node ai-sdk.mjs URL VERSION`. Prints what it got as JSON. */
import { z } from 'zod'

const [, , url, version] = process.argv
const { createOpenAI } = await import(`ai-openai-${version}`)
const { embedMany, generateObject, generateText, stepCountIs, streamText, tool } = await import(
  `ai-${version}`
)
const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' })
const tiny = openai.chat('tiny')
const rules = openai.chat('rules')
const prompt = 'What is the weather in Paris?'
const maxRetries = 0
const tools = {
  get_weather: tool({
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `rain in ${city}`,
  }),
}

const { text } = await generateText({ model: tiny, prompt, seed: 1, maxRetries })
let streamed = ''
for await (const piece of streamText({ model: tiny, prompt, seed: 1, maxRetries }).textStream)
  streamed += piece
const run = await generateText({
  model: rules,
  prompt,
  tools,
  stopWhen: stepCountIs(2),
  maxRetries,
})
const calls = []
const stream = streamText({ model: rules, prompt, tools, maxRetries })
for await (const part of stream.fullStream)
  if (part.type === 'tool-call') calls.push([part.toolName, part.input])
const { object } = await generateObject({
  model: rules,
  prompt: 'Ann is 9 years old',
  schema: z.object({ name: z.string(), age: z.number() }),
  maxRetries,
})
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
const seen = await generateText({
  model: rules,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is here?' },
        { type: 'image', image: Buffer.from(png, 'base64') },
      ],
    },
  ],
  maxRetries,
})
const { embeddings } = await embedMany({ model: openai.embedding('tiny'), values: ['a', 'b'] })
console.log(
  JSON.stringify({
    text: text === streamed && text !== '',
    tools: [run.steps[0].toolCalls.map(({ toolName, input }) => [toolName, input]), run.text],
    streamedTools: calls,
    structured: object,
    parts: seen.text,
    embeddings: embeddings.length,
  }),
)
