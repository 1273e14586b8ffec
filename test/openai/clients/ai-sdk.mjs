/** Asks examples by the AI SDK: `node ai-sdk.mjs URL VERSION [URL]`. Prints what it got as JSON. */
import { z } from 'zod'

const [, , url, version, keeping] = process.argv
const { createOpenAI } = await import(`ai-openai-${version}`)
const { embedMany, generateObject, generateText, stepCountIs, streamText, tool } = await import(
  `ai-${version}`
)
const prompt = 'What is the weather in Paris?'
const tools = {
  get_weather: tool({
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `rain in ${city}`,
  }),
}
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'

/** Asks by one of the SDK's kinds of models. */
async function answers(modelOf, more = {}) {
  const options = { maxRetries: 0, ...more }
  const tiny = modelOf('tiny')
  const model = modelOf('rules')
  const { text } = await generateText({ model: tiny, prompt, ...options })
  let streamed = ''
  for await (const piece of streamText({ model: tiny, prompt, ...options }).textStream)
    streamed += piece
  const run = await generateText({ model, prompt, tools, stopWhen: stepCountIs(2), ...options })
  const calls = []
  for await (const part of streamText({ model, prompt, tools, ...options }).fullStream)
    if (part.type === 'tool-call') calls.push([part.toolName, part.input])
  const { object } = await generateObject({
    model,
    prompt: 'Ann is 9 years old',
    schema: z.object({ name: z.string(), age: z.number() }),
    ...options,
  })
  const content = [
    { type: 'text', text: 'What is here?' },
    { type: 'image', image: Buffer.from(png, 'base64') },
  ]
  const seen = await generateText({ model, messages: [{ role: 'user', content }], ...options })
  return {
    text: text !== '' && streamed !== '',
    tools: [run.steps[0].toolCalls.map(({ toolName, input }) => [toolName, input]), run.text],
    streamedTools: calls,
    structured: object,
    parts: seen.text,
  }
}

const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' })
const kept = keeping && createOpenAI({ baseURL: `${keeping}/v1`, apiKey: 'none' })
const { embeddings } = await embedMany({ model: openai.embedding('tiny'), values: ['a', 'b'] })
console.log(
  JSON.stringify({
    chat: await answers(openai.chat),
    // Without `store` the SDK sends the conversation again, else references to it.
    responses: await answers(openai, { providerOptions: { openai: { store: false } } }),
    kept: kept && (await answers(kept)),
    embeddings: embeddings.length,
  }),
)
