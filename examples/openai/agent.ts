/**
 * Asks the service of agents.ts: a tool and a prompt by MCP, a response in the background, and a batch.
 *
 * Run: `npx tsx examples/openai/agent.ts http://localhost:3000`
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import OpenAI, { toFile } from 'openai'

const [, , url] = process.argv
const agent = new Client({ name: 'agent', version: '1.0.0' })
await agent.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
const { structuredContent } = await agent.callTool({ name: 'price', arguments: { tea: 'assam' } })
console.log('tool', structuredContent)
const { messages } = await agent.getPrompt({ name: 'offer', arguments: { tea: 'sencha' } })
console.log('prompt', messages[0].content)
const { contents } = await agent.readResource({ uri: 'serving://agents/hours' })
console.log('resource', contents[0])
await agent.close()

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' })
let response = await client.responses.create({ model: 'rules', input: 'Hello', background: true })
while (/queued|in_progress/.test(String(response.status))) {
  await wait(100)
  response = await client.responses.retrieve(response.id)
}
console.log('response', response.output_text)

const lines = ['assam', 'sencha'].map((tea) =>
  JSON.stringify({ custom_id: tea, method: 'POST', url: '/price', body: { tea } }),
)
const file = await client.files.create({
  file: await toFile(Buffer.from(lines.join('\n')), 'teas.jsonl'),
  purpose: 'batch',
})
let batch = await client.batches.create({
  input_file_id: file.id,
  endpoint: '/price' as '/v1/responses',
  completion_window: '24h',
})
while (/validating|in_progress/.test(batch.status)) {
  await wait(100)
  batch = await client.batches.retrieve(batch.id)
}
const results = await client.files.content(String(batch.output_file_id))
for (const line of (await results.text()).trim().split('\n')) {
  const { custom_id, response } = JSON.parse(line)
  console.log('batch', custom_id, response.body)
}
