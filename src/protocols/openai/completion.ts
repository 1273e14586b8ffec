import { BadOutput, expected } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import type { Delta } from './model.ts'
import type { SamplingRequest } from './requests.ts'

/** Ends a model's text at `stop` and `max_tokens`, and counts. */
export class Completion {
  finishReason = 'stop'
  usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  readonly #deltas: AsyncIterable<Delta> | Promise<Delta>
  readonly #request: SamplingRequest

  constructor(deltas: AsyncIterable<Delta> | Promise<Delta>, request: SamplingRequest) {
    this.#deltas = deltas
    this.#request = request
  }

  /**
   * Yields the text in pieces.
   *
   * @throws those of the model; BadOutput.
   */
  async *texts(): AsyncGenerator<string> {
    const { max_tokens: maxTokens, stop } = this.#request
    const held = new StopText(stop)
    let told = {}
    let reason: string | undefined
    let count = 0
    for await (const delta of Symbol.asyncIterator in this.#deltas
      ? this.#deltas
      : [this.#deltas]) {
      const { text = '', usage, finish_reason } = partsOf(delta)
      told = { ...told, ...usage }
      reason = finish_reason ?? reason
      if (text === '') continue
      // A model that honours `max_tokens` may tell its counts after the last text.
      if (count === maxTokens) break
      count++
      const shown = held.push(text)
      if (shown !== '') yield shown
      if (held.isOver) break
    }
    if (!held.isOver && held.rest !== '') yield held.rest
    this.finishReason = held.isOver ? 'stop' : (reason ?? (count === maxTokens ? 'length' : 'stop'))
    const usage = { prompt_tokens: 0, completion_tokens: count, ...told }
    this.usage = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens }
  }
}

function partsOf(delta: Delta): Exclude<Delta, string> {
  const parts = typeof delta === 'string' ? { text: delta } : delta
  if (isRecord(parts) && typeof (parts.text ?? '') === 'string') return parts
  throw new BadOutput(
    expected('a text or { text, usage, finish_reason }', 'a delta of the model', delta),
  )
}

/** Finds the first of several stops in a text that comes in pieces. */
class StopText {
  readonly #stops: readonly string[]
  /** The end of the text that may be the start of a stop. */
  rest = ''
  isOver = false

  constructor(stops: readonly string[]) {
    this.#stops = stops
  }

  /** @returns what no stop can hold any more. */
  push(piece: string): string {
    const text = this.rest + piece
    const found = this.#stops.map((stop) => text.indexOf(stop)).filter((at) => at !== -1)
    this.isOver = found.length > 0
    const end = this.isOver ? Math.min(...found) : text.length - this.#heldLength(text)
    this.rest = text.slice(end)
    return text.slice(0, end)
  }

  #heldLength(text: string): number {
    let longest = 0
    for (const stop of this.#stops) {
      for (let length = Math.min(stop.length - 1, text.length); length > longest; length--) {
        if (!text.endsWith(stop.slice(0, length))) continue
        longest = length
        break
      }
    }
    return longest
  }
}
