/** The services of pages that need packages which are too large for this repository. @module */

/** A service in docs/snippets, and the package that it needs. */
export const recipes = [
  {
    service: 'hub/mood.ts',
    needed: '@huggingface/transformers',
    page: 'docs/recipes/hugging-face.md',
  },
  { service: 'llama/words.ts', needed: 'node-llama-cpp', page: 'docs/recipes/llama.md' },
] as const
