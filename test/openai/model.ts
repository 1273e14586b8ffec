/** A model whose texts a test asks for: `say` of a request are its deltas. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { NDArray, Unauthorized } from '../../src/index.ts'
import type { ChatRequest, CompletionRequest, Delta } from '../../src/protocols/openai/index.ts'

/** Requests that have come and streams that have ended, in a thread's model read by `seen`. */
export function load() {
  const requests: unknown[] = []
  let ended = 0
  async function* say(request: ChatRequest | CompletionRequest) {
    requests.push(request)
    try {
      for (const delta of (request.say ?? ['one ', 'two ', 'three']) as (
        | Delta
        | 'fail'
        | 'refuse'
        | 'forever'
      )[]) {
        if (delta === 'fail') throw new RangeError('a secret')
        if (delta === 'refuse') throw new Unauthorized('not this one')
        if (delta === 'forever')
          for (;;) {
            yield 'tick '
            await wait(5)
          }
        yield delta
      }
    } finally {
      ended++
    }
  }
  return {
    chat: say,
    generate: say,
    embed(texts: readonly string[]) {
      const rows = texts.map((text) => [text.length, 0.1, -1 / 3])
      if (texts[0] === 'rows') return rows
      if (texts[0] === 'nan') return [[Number.NaN]]
      if (texts[0] === 'few') return []
      const embeddings = new NDArray(Float32Array.from(rows.flat()), [rows.length, 3])
      return texts[0] === 'array'
        ? embeddings
        : { embeddings, tokens: texts.map((text) => text.length) }
    },
    seen: () => ({ requests, ended }),
  }
}
