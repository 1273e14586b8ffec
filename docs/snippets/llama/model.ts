import { fileURLToPath } from 'node:url'
import { getLlama } from 'node-llama-cpp'
import type { CompletionRequest } from 'serving/openai'

/** Loads a GGUF file beside this one. `sequences` texts are written at a time. */
export async function load({
  file,
  sequences,
}: {
  readonly file: string
  readonly sequences: number
}) {
  const llama = await getLlama({ build: 'never' })
  const model = await llama.loadModel({ modelPath: fileURLToPath(new URL(file, import.meta.url)) })
  const context = await model.createContext({ sequences })
  return {
    async *generate({ prompt, temperature = 0.8, top_p: topP }: CompletionRequest) {
      const sequence = context.getSequence()
      const read = [model.tokens.bos, ...model.tokenize(prompt)].filter((token) => token !== null)
      try {
        for await (const token of sequence.evaluate(read, { temperature, topP })) {
          if (model.isEogToken(token)) return
          yield model.detokenize([token], false, read.slice(-4))
          read.push(token)
        }
      } finally {
        sequence.dispose()
      }
    },
  }
}
