/** Who watches which job. Both stores call it at each change. */
export class Listeners {
  readonly #byName = new Map<string, Set<() => void>>()

  /**
   * `first` is called for the first listener of a name, `last` once it has no more.
   *
   * @returns what ends it.
   */
  add(name: string, listener: () => void, first: () => void, last: () => void): () => void {
    const listeners = this.#byName.get(name) ?? new Set()
    this.#byName.set(name, listeners)
    if (listeners.size === 0) first()
    // Its own function, so that one listener may watch twice.
    const own = () => listener()
    listeners.add(own)
    return () => {
      if (!listeners.delete(own) || listeners.size > 0) return
      this.#byName.delete(name)
      last()
    }
  }

  call(name: string): void {
    for (const listener of this.#byName.get(name) ?? []) listener()
  }

  callAll(): void {
    for (const name of this.#byName.keys()) this.call(name)
  }
}
