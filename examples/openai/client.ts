/**
 * Asks the example by the openai package.
 *
 * Run: `npx tsx examples/openai/client.ts http://localhost:3000 'How does batching work?'`
 * @module
 */
import OpenAI from 'openai'

const [, , url, question] = process.argv
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' })
const stream = await client.chat.completions.create({
  model: 'tiny',
  messages: [{ role: 'user', content: question }],
  seed: 7,
  stream: true,
})
for await (const { choices } of stream) process.stdout.write(choices[0].delta.content ?? '')
process.stdout.write('\n')
