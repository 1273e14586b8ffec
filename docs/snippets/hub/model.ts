import { env, pipeline } from '@huggingface/transformers'

/** Loads `folder` below this file, and nothing from the network. */
export async function load(folder: string) {
  env.allowRemoteModels = false
  env.localModelPath = new URL('./', import.meta.url).pathname
  const classifier = await pipeline('text-classification', folder, { dtype: 'fp32' })
  return {
    // One list for all requests that come together: one run of the model.
    async classify(texts: readonly string[]) {
      return (await classifier([...texts], { top_k: 1 })).flat()
    },
  }
}
