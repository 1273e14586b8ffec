/**
 * What agents ask for beside chats: tools, a prompt and a resource by MCP, responses in the background, and batches.
 * @module
 */
import { io, Runner, Service } from 'serving'
import { openai } from 'serving/openai'
import { z } from 'zod'

const rules = new Runner<typeof import('./rules.ts')>('rules', {
  module: new URL('./rules.ts', import.meta.url),
  methods: { chat: { stream: true } },
})

// Responses, files and batches are jobs.
const svc = new Service('agents', {
  doc: 'A tea shop.',
  mcp: true,
  protocols: [
    openai({
      models: { rules: { runner: rules, accepts: ['tools', 'response_format'] } },
      async: true,
    }),
  ],
})

const prices = { assam: 7, sencha: 12 }
const Tea = z.object({ tea: z.enum(['assam', 'sencha']) })
const input = new io.JSON({ schema: Tea })
const text = new io.Text()

svc.api(
  {
    input,
    output: new io.JSON({ schema: z.object({ price: z.number() }) }),
    doc: 'What a tea costs.',
    mcp: { title: 'Price', annotations: { readOnlyHint: true } },
  },
  function price({ tea }) {
    return { price: prices[tea] }
  },
)

svc.api(
  { input, output: text, doc: 'Brews a tea, which takes a while.', async: true },
  async function brew({ tea }, ctx) {
    for (const done of [0.5, 1]) await ctx.job?.progress(done)
    return `A pot of ${tea}.`
  },
)

svc.api(
  { input, output: text, doc: 'Asks for an offer.', mcp: { prompt: true } },
  function offer({ tea }) {
    return `Write an offer for ${tea}.`
  },
)

svc.get('/hours', { output: text, doc: 'When the shop is open.' }, () => '9 to 5')

export default svc
