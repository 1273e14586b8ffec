/**
 * A chat: the model's words are sent one by one, and a page at /chat shows them as they come.
 * @module
 */
import { readFileSync } from 'node:fs'
import { io, Runner, Service } from 'serving'

const model = new Runner<typeof import('./model.ts')>('chat', {
  module: new URL('./model.ts', import.meta.url),
  methods: { reply: { stream: true } },
})
const svc = new Service('chat', { doc: 'Talks about serving.', runners: [model] })
const page = readFileSync(new URL('./page.html', import.meta.url))

svc.api(
  {
    input: new io.Text(),
    output: new io.Text(),
    doc: 'Answers in words of the documentation, one by one.',
    examples: [{ name: 'Batching', input: 'How does batching work?' }],
  },
  async function* reply(prompt, ctx) {
    yield* model.reply(prompt, ctx)
  },
)
svc.mount(
  '/chat',
  () => new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } }),
)

export default svc
