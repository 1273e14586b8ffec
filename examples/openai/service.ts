/**
 * A tiny language model for OpenAI's clients.
 * @module
 */
import { Runner, Service } from 'serving'
import { openai } from 'serving/openai'

const tiny = new Runner<typeof import('./model.ts')>('tiny', {
  module: new URL('./model.ts', import.meta.url),
  methods: { chat: { stream: true }, generate: { stream: true }, embed: { batchable: true } },
})

export default new Service('openai', {
  doc: 'A tiny language model for the clients of OpenAI.',
  protocols: [openai({ models: { tiny } })],
})
