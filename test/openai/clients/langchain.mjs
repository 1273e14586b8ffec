/** Asks the example by LangChain: `node langchain.mjs URL`. Prints what it got as JSON. */
import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { z } from 'zod'

const [, , url] = process.argv
const options = { apiKey: 'none', maxRetries: 0, configuration: { baseURL: `${url}/v1` } }
const tiny = new ChatOpenAI({ ...options, model: 'tiny' })
const rules = new ChatOpenAI({ ...options, model: 'rules' })
const weather = tool(async ({ city }) => `rain in ${city}`, {
  name: 'get_weather',
  description: 'Tells the weather.',
  schema: z.object({ city: z.string() }),
})
const prompt = 'What is the weather in Paris?'

const { content } = await tiny.invoke(prompt)
let streamed = ''
for await (const chunk of await tiny.stream(prompt)) streamed += chunk.content
const called = await rules.bindTools([weather]).invoke(prompt)
let merged
for await (const chunk of await rules.bindTools([weather]).stream(prompt))
  merged = merged === undefined ? chunk : merged.concat(chunk)
const structured = await rules
  .withStructuredOutput(z.object({ name: z.string(), age: z.number() }), { method: 'jsonSchema' })
  .invoke('Ann is 9 years old')
const byTool = await rules
  .withStructuredOutput(z.object({ name: z.string(), age: z.number() }), {
    method: 'functionCalling',
  })
  .invoke('Ann is 9 years old')
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
const seen = await rules.invoke([
  new HumanMessage({
    content: [
      { type: 'text', text: 'What is here?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ],
  }),
])
const texts = await new OpenAI({ ...options, model: 'tiny', maxTokens: 2 }).generate(['The', 'A'])
const vectors = await new OpenAIEmbeddings({ ...options, model: 'tiny' }).embedDocuments(['a', 'b'])
const byResponses = (model) =>
  new ChatOpenAI({ ...options, model, useResponsesApi: true, modelKwargs: { store: false } })
const said = await byResponses('tiny').invoke(prompt)
const asked = await byResponses('rules').bindTools([weather]).invoke(prompt)
const callOf = ({ tool_calls: [{ name, args }] }) => [name, args]
console.log(
  JSON.stringify({
    text: content !== '' && streamed !== '',
    tools: callOf(called),
    streamedTools: callOf(merged),
    structured,
    byTool,
    parts: seen.content,
    prompts: texts.generations.length,
    embeddings: vectors.length,
    responses: [said.text !== '', callOf(asked)],
  }),
)
