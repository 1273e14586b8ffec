import { Runner, Service } from 'serving'
import { openai } from 'serving/openai'

const sequences = 4
const words = new Runner<typeof import('./model.ts')>('words', {
  module: new URL('./model.ts', import.meta.url),
  isolation: 'process', // Native code that crashes ends its process, not the server.
  concurrency: sequences,
  methods: { generate: { stream: true } },
  init: { file: './words.gguf', sequences },
})

export default new Service('words', { protocols: [openai({ models: { words } })] })
