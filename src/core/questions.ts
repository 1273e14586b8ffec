/** Questions to another thread or process, each of which is answered by its number. @module */

interface Open {
  resolve(answer: unknown): void
  reject(error: Error): void
}

/** The questions to one thread or process that have no answer yet. */
export class Questions {
  readonly #open = new Map<number, Open>()
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
  ask<A>(send: (id: number) => void): Promise<A> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) throw this.#ended
      const id = ++this.#count
      this.#open.set(id, { resolve: resolve as Open['resolve'], reject })
      try {
        send(id)
      } catch (error) {
        this.#open.delete(id)
        throw error
      }
    })
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
