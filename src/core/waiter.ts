/** A loop that waits for a change: of credits, of room, or of a job. @module */

/** Wakes the one loop that waits here. Who wakes it when nobody waits does nothing. */
export class Waiter {
  #wake = () => {}

  /** Resolves when {@link Waiter.wake} is called next. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  wake(): void {
    this.#wake()
    this.#wake = () => {}
  }
}
