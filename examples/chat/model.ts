/**
 * A language model of words: the next one follows from the two before, as often as it does in corpus.txt.
 * @module
 */
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** The time of a token, near that of a large model. **Units**: milliseconds. */
const tokenMs = 20
const sentences = 3

/** Learns from the corpus. Called once in each thread. */
export function load() {
  const text = readFileSync(new URL('./corpus.txt', import.meta.url), 'utf8')
  const lines = text.trim().split('\n')
  const next = new Map<string, string[]>()
  const add = (key: string, word: string) => next.set(key, [...(next.get(key) ?? []), word])
  const counts = new Map<string, number>()
  const wordsOf = (line: string) => line.toLowerCase().match(/[a-z0-9]{4,}/g) ?? []
  for (const line of lines) {
    const words = line.split(' ')
    words.forEach((word, i) => {
      if (i > 0) add(words[i - 1], word)
      if (i > 1) add(`${words[i - 2]} ${words[i - 1]}`, word)
    })
    for (const word of new Set(wordsOf(line))) counts.set(word, (counts.get(word) ?? 0) + 1)
  }

  /** The lines that share words with the prompt, the best first: a rare word counts more. */
  function linesAbout(prompt: string): string[] {
    const asked = new Set(wordsOf(prompt))
    const score = (line: string) =>
      wordsOf(line).reduce(
        (sum, word) => sum + (asked.has(word) ? 1 / (counts.get(word) ?? 1) : 0),
        0,
      )
    return lines
      .map((line) => ({ line, score: score(line) }))
      .sort((a, b) => b.score - a.score)
      .map(({ line }) => line)
  }

  return {
    /** Yields the words of an answer one by one; each sentence begins as one about the prompt does. */
    async *reply(prompt: string) {
      const random = randomOf(prompt)
      for (const line of linesAbout(prompt).slice(0, sentences)) {
        let [before, word] = line.split(' ')
        yield `${before} `
        for (let length = 2; word !== undefined && length < 40; length++) {
          yield `${word} `
          await wait(tokenMs)
          const choices: string[] = /[.!?]$/.test(word)
            ? []
            : (next.get(`${before} ${word}`) ?? next.get(word) ?? [])
          ;[before, word] = [word, choices[Math.floor(random() * choices.length)]]
        }
      }
    },
  }
}

/** Returns numbers from 0 to 1 that a text decides: the same prompt gets the same answer. */
function randomOf(text: string): () => number {
  let state = [...text].reduce((sum, char) => (sum * 31 + char.codePointAt(0)!) >>> 0, 7)
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
