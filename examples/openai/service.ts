/**
 * A tiny language model for OpenAI's clients, and rules that call tools and fill schemas.
 * @module
 */
import { Runner, Service } from 'serving'
import { openai } from 'serving/openai'

const tiny = new Runner<typeof import('./model.ts')>('tiny', {
  module: new URL('./model.ts', import.meta.url),
  methods: {
    chat: { stream: true },
    generate: { stream: true },
    embed: { batchable: true },
    rerank: {},
  },
})
const rules = new Runner<typeof import('./rules.ts')>('rules', {
  module: new URL('./rules.ts', import.meta.url),
  methods: { chat: { stream: true }, embed: {} },
})

export default new Service('openai', {
  doc: 'A tiny language model for the clients of OpenAI.',
  protocols: [
    openai({
      models: {
        tiny: { runner: tiny, accepts: ['n'] },
        rules: {
          runner: rules,
          accepts: ['tools', 'response_format', 'images', 'audio', 'n', 'tokens'],
        },
      },
    }),
  ],
})
