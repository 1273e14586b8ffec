/** A model whose texts a test asks for: `say` of a request are its deltas. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { NDArray, Unauthorized } from '../../src/index.ts'
import type {
  ChatContent,
  ChatRequest,
  CompletionRequest,
  Delta,
  Prompt,
  RerankRequest,
  TranscriptionRequest,
} from '../../src/protocols/openai/index.ts'

type Said = Delta | 'fail' | 'refuse' | 'forever' | 'seed' | 'prompt' | 'parts'

/** Requests that have come and streams that have ended, in a thread's model read by `seen`. */
export function load() {
  const requests: unknown[] = []
  let ended = 0
  async function* say(request: ChatRequest<ChatContent> | CompletionRequest<Prompt>) {
    requests.push(request)
    try {
      for (const delta of (request.say ?? ['one ', 'two ', 'three']) as Said[]) {
        if (delta === 'fail') throw new RangeError('a secret')
        if (delta === 'refuse') throw new Unauthorized('not this one')
        if (delta === 'forever')
          for (;;) {
            yield 'tick '
            await wait(5)
          }
        if (delta === 'seed') yield `seed ${request.seed}`
        else if (delta === 'prompt') yield JSON.stringify(request.prompt)
        else if (delta === 'parts') yield JSON.stringify(partsOf(request as never))
        else yield delta
      }
    } finally {
      ended++
    }
  }
  return {
    chat: say,
    generate: say,
    embed(texts: readonly Prompt[]) {
      const rows = texts.map((text) => [text.length, 0.1, -1 / 3])
      if (texts[0] === 'rows') return rows
      if (texts[0] === 'nan') return [[Number.NaN]]
      if (texts[0] === 'few') return []
      const embeddings = new NDArray(Float32Array.from(rows.flat()), [rows.length, 3])
      return texts[0] === 'array'
        ? embeddings
        : { embeddings, tokens: texts.map((text) => text.length) }
    },
    rerank({ query, documents }: RerankRequest) {
      const scores = documents.map((text) => text.split(query).length - 1)
      if (query === 'few') return []
      return query === 'array' ? new NDArray(Float32Array.from(scores)) : { scores, tokens: 7 }
    },
    async *transcribe({ file, ...request }: TranscriptionRequest) {
      requests.push(request)
      if (request.language === 'all') for (let i = 0; i < 50; i++) yield `${request.prompt}`
      yield 'sound '
      yield { text: `of ${file.size} bytes`, language: 'en', segments: [{ id: 0 }] }
      if (request.prompt === 'fail') throw new RangeError('a secret')
      yield { usage: { prompt_tokens: 3 } }
    },
    seen: () => ({ requests, ended }),
  }
}

/** What the descriptors have made of the parts of the last message. */
function partsOf({ messages }: ChatRequest<ChatContent>) {
  const content = messages.at(-1)?.content ?? ''
  if (typeof content === 'string') return content
  return content.map((part) => {
    if (part.type === 'image_url') {
      const { mode, width, height, data } = part.image
      return { ...part, image: { mode, width, height, first: [...data.subarray(0, 6)] } }
    }
    if (part.type === 'text') return part
    const { bytes, mimeType, name } = part.type === 'file' ? part.file : part.audio
    return { type: part.type, mimeType, name, text: Buffer.from(bytes).toString() }
  })
}
