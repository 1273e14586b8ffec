/** Questions to another thread or process, each of which is answered by its number. @module */
import { deferred } from './promise.ts'

/** The questions to one thread or process that have no answer yet. */
export class Questions {
  readonly #open = new Map<number, ReturnType<typeof deferred<unknown>>>()
  #count = 0
  #ended: Error | undefined

  /** How many have no answer yet. */
  get size(): number {
    return this.#open.size
  }

  /**
   * Sends a question with its number, by `send`.
   *
   * @returns the answer.
   * @throws that of `send`, of {@link Questions.refuse}, or of {@link Questions.end}.
   */
  async ask<A>(send: (id: number) => void): Promise<A> {
    if (this.#ended !== undefined) throw this.#ended
    const id = ++this.#count
    const answer = deferred<unknown>()
    this.#open.set(id, answer)
    try {
      send(id)
      return (await answer.promise) as A
    } finally {
      this.#open.delete(id)
    }
  }

  /** Called with an answer. One to a question that is no longer open is dropped. */
  answer(id: number, value: unknown): void {
    this.#settle(id)?.resolve(value)
  }

  /** Called with an error in place of an answer. */
  refuse(id: number, error: Error): void {
    this.#settle(id)?.reject(error)
  }

  /** Called when the other side has ended: fails the open questions, and all that follow. */
  end(error: Error): void {
    this.#ended ??= error
    for (const id of [...this.#open.keys()]) this.refuse(id, this.#ended)
  }

  #settle(id: number) {
    const answer = this.#open.get(id)
    this.#open.delete(id)
    return answer
  }
}
