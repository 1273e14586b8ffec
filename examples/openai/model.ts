/**
 * A tiny language model: the next token follows from the two before, as often as it does in a text about serving. Its
 * sentences that are like the prompt count more. Texts as vectors: their character n-grams, rare ones with more weight.
 * @module
 */
import { readFileSync } from 'node:fs'
import { NDArray } from 'serving'
import type {
  ChatRequest,
  CompletionRequest,
  Delta,
  RerankRequest,
  SamplingRequest,
} from 'serving/openai'

const corpus = new URL('../chat/corpus.txt', import.meta.url)
const end = '\n'
const dims = 256
const answerSentences = 2
const defaultTokens = 80
// What the likeness to the prompt weighs, and how much less a shorter context does.
const topicWeight = 12
const backoff = 0.001

/** A token has the space in front of it. */
const tokensOf = (text: string) => text.match(/ ?[^\s,;:()]*[\p{L}\p{N}_]| ?\S|\n/gu) ?? []

/** Learns from the corpus by counting. Called once in each thread. */
export function load() {
  const sentences = readFileSync(corpus, 'utf8').trim().split('\n')
  // The sentences in which a token follows a context.
  const followers = new Map<string, Map<string, number[]>>()
  const documents = new Map<number, number>()
  for (const [i, sentence] of sentences.entries()) {
    const tokens = [end, ...tokensOf(` ${sentence}`), end]
    for (let at = 1; at < tokens.length; at++) {
      for (const context of contextsOf(tokens.slice(0, at))) {
        const next = followers.get(context) ?? new Map<string, number[]>()
        followers.set(context, next.set(tokens[at], [...(next.get(tokens[at]) ?? []), i]))
      }
    }
    for (const gram of new Set(gramsOf(sentence)))
      documents.set(gram, (documents.get(gram) ?? 0) + 1)
  }

  /** Returns a vector of length 1; each n-gram adds to one of its numbers. */
  function embedOne(text: string): Float32Array {
    const vector = new Float32Array(dims)
    for (const gram of gramsOf(text)) {
      const weight = Math.log((sentences.length + 1) / ((documents.get(gram) ?? 0) + 1))
      vector[gram % dims] += gram & 0x80000000 ? -weight : weight
    }
    const length = Math.hypot(...vector) || 1
    return vector.map((each) => each / length)
  }

  const vectors = sentences.map(embedOne)

  /** Returns the tokens that may follow, with their weights. */
  function choicesAfter(
    tokens: readonly string[],
    relevance: readonly number[],
  ): [string, number][] {
    const weights = new Map<string, number>()
    let share = 1
    for (const context of contextsOf(tokens)) {
      for (const [token, found] of followers.get(context) ?? []) {
        const sum = found.reduce((total, i) => total + relevance[i], 0)
        weights.set(token, (weights.get(token) ?? 0) + share * sum)
      }
      if (weights.size > 0) share *= backoff
    }
    return [...weights]
  }

  async function* write(
    prompt: string,
    about: string,
    request: SamplingRequest,
    wanted: number,
  ): AsyncGenerator<Delta> {
    const {
      max_tokens = defaultTokens,
      temperature = 1,
      top_p = 1,
      seed = Math.floor(Math.random() * 2 ** 32),
    } = request
    const random = randomOf(seed)
    const topic = embedOne(about)
    const relevance = vectors.map((vector) => Math.exp(topicWeight * likeness(vector, topic)))
    const tokens = [end, ...tokensOf(prompt)]
    const prompt_tokens = tokensOf(about).length
    let count = 0
    for (let left = wanted; count < max_tokens; ) {
      const token = sample(choicesAfter(tokens, relevance), temperature, top_p, random)
      tokens.push(token)
      if (token === end && --left === 0) break
      if (token === end) continue
      yield count++ === 0 && prompt === '' ? token.trimStart() : token
      // Lets the thread look for calls that have been given up.
      await new Promise(setImmediate)
    }
    yield {
      usage: { prompt_tokens, completion_tokens: count },
      finish_reason: count < max_tokens ? 'stop' : 'length',
    }
  }

  return {
    /** Writes sentences about the last message. */
    async *chat(request: ChatRequest) {
      const about = request.messages.at(-1)!.content
      yield* write('', about, request, answerSentences)
    },
    /** Continues a text to the end of its sentence. */
    async *generate(request: CompletionRequest) {
      yield* write(request.prompt, request.prompt, request, 1)
    },
    embed(texts: readonly string[]) {
      const rows = texts.map(embedOne)
      const data = Float32Array.from(rows.flatMap((row) => [...row]))
      const tokens = texts.map((text) => tokensOf(text).length)
      return { embeddings: new NDArray(data, [rows.length, dims]), tokens }
    },
    /** Scores documents by the n-grams that they share with the query. */
    rerank({ query, documents }: RerankRequest) {
      const topic = embedOne(query)
      const tokens = [query, ...documents].reduce((sum, text) => sum + tokensOf(text).length, 0)
      return { scores: documents.map((text) => likeness(embedOne(text), topic)), tokens }
    },
  }
}

function likeness(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, each, i) => sum + each * b[i], 0)
}

/** The two tokens before, the one before, and nothing. */
function contextsOf(tokens: readonly string[]): string[] {
  return [tokens.slice(-2).join('\0'), tokens.at(-1)!, '']
}

/** Returns hashes of the n-grams of 3 to 5 characters of each word. */
function gramsOf(text: string): number[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.flatMap((word) => {
    const whole = `<${word}>`
    const all: number[] = []
    for (let size = 3; size <= 5; size++) {
      for (let at = 0; at + size <= whole.length; at++) all.push(hashOf(whole.slice(at, at + size)))
    }
    return all
  })
}

/** FNV-1a, with its bits mixed. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const char of text) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}

function sample(
  choices: [string, number][],
  temperature: number,
  topP: number,
  random: () => number,
): string {
  choices.sort((a, b) => b[1] - a[1])
  if (temperature === 0) return choices[0][0]
  const sharp = choices.map(
    ([token, weight]) => [token, (weight / choices[0][1]) ** (1 / temperature)] as const,
  )
  const total = sharp.reduce((sum, [, weight]) => sum + weight, 0)
  let kept = 0
  const likely = sharp.filter(([, weight]) => {
    const isKept = kept < topP * total
    kept += isKept ? weight : 0
    return isKept
  })
  let at = random() * kept
  for (const [token, weight] of likely) {
    at -= weight
    if (at < 0) return token
  }
  return choices[0][0]
}

/** Returns numbers from 0 to 1 that the seed decides (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
