/**
 * Lists of millions of elements.
 * @module
 */

// Growing a list to this takes some milliseconds. **Units**: elements.
const firstRoom = 1 << 20

/**
 * Fills a list with what is read of a source. From a million elements on, its room is estimated by what has been read
 * so far, since V8 makes a list longer by half and copies it, with a page fault for every 512 elements: 15,000,000 of
 * them took 500 ms, 150 at once; now 180, 90 at once.
 */
export class LongList<T> {
  /** May be longer than `length` until `finish`. */
  readonly list: T[]
  readonly #start: number
  length: number
  #room = firstRoom

  /** `start`: where the first element comes in the source. */
  constructor(start: number, list: T[] = []) {
    this.list = list
    this.#start = start
    this.length = list.length
  }

  /** Appends an element. */
  push(value: T): void {
    this.list[this.length++] = value
  }

  /** Called now and then with how far the source has been read, and where it ends. */
  progress(at: number, end: number): void {
    if (this.length < this.#room || at <= this.#start) return
    this.#room = Number.POSITIVE_INFINITY
    const share = (at - this.#start) / (end - this.#start)
    const room = Math.ceil((this.length / share) * 1.03)
    // The rest of the source is short, or V8 would do the same.
    if (room > this.length * 1.5) this.list.length = room
  }

  /** Returns the list, which is the caller's. */
  finish(): T[] {
    if (this.list.length > this.length) this.list.length = this.length
    return this.list
  }
}
