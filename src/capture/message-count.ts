/** Messages that have no end, as a capture has them: how many, how long, and their hash. @module */
import { createHash } from 'node:crypto'
import { type Cells, messageBytes, scalarTypes } from './cells.ts'

/** Counts the messages of one direction as they pass. */
export class MessageCount {
  readonly #name: string
  readonly #hash = createHash('sha256')
  #messages = 0
  #length = 0

  constructor(name: string) {
    this.#name = name
  }

  /** @returns the messages. `onError`: gets what they throw. */
  async *over(
    messages: AsyncIterable<unknown>,
    onError: (error: unknown) => void,
  ): AsyncGenerator<unknown> {
    try {
      for await (const message of messages) {
        this.#count(message)
        yield message
      }
    } catch (error) {
      onError(error)
      throw error
    }
  }

  /** Adds the columns of the messages so far. */
  addTo(cells: Cells): void {
    const name = this.#name
    if (cells.isRedacted(name)) return
    cells.scalar(`${name}.messages`, scalarTypes.whole, this.#messages)
    cells.scalar(`${name}.length`, scalarTypes.whole, this.#length)
    cells.scalar(`${name}.sha256`, scalarTypes.text, this.#hash.digest('hex'))
  }

  #count(message: unknown): void {
    this.#messages++
    try {
      const bytes = messageBytes(message)
      this.#length += bytes.length
      this.#hash.update(bytes)
    } catch {
      // The descriptor tells what no message is.
    }
  }
}
