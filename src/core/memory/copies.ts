/** Memory that is filled in turns of the event loop. @module */
import { setImmediate as turn } from 'node:timers/promises'
import { InvalidArgument } from '../errors.ts'
import { allocate } from '../platform.ts'
import { bytesOf } from './byte-copy.ts'

/** Most bytes of copies in one turn. Fresh memory takes three times as long as used memory. **Units**: bytes. */
export const turnBytes = 4 * 1024 * 1024

/** New memory for one message, and the copies that fill it. */
export class Copies {
  #memory: Set<ArrayBufferLike> | undefined
  #fills: (() => Promise<void>)[] | undefined
  /** Left of this turn. **Units**: bytes. */
  #left = turnBytes

  /** @returns memory that nobody else has. */
  allocate(size: number): ArrayBuffer {
    const { buffer } = allocate(size)
    this.#memory ??= new Set()
    this.#memory.add(buffer)
    return buffer
  }

  /** Whether a view is of this memory. */
  has({ buffer }: ArrayBufferView): boolean {
    return this.#memory?.has(buffer) === true
  }

  /**
   * Copies short memory now, else in turns until `made`.
   *
   * @returns whether nobody may change `from` until then.
   */
  copy(from: ArrayBufferView, to: ArrayBufferView): boolean {
    const [source, target] = [bytesOf(from), bytesOf(to)]
    const isNow = this.#fills === undefined && source.length <= this.#left
    if (isNow) {
      target.set(source)
      this.#left -= source.length
    } else this.fill(() => this.#copyInTurns(source, target))
    return !isNow
  }

  /** Fills memory until `made`, after the fills before. */
  fill(work: () => Promise<void>): void {
    this.#fills ??= []
    this.#fills.push(work)
  }

  /** @returns a promise for the rest; undefined if all memory is filled. */
  made(): Promise<void> | undefined {
    const fills = this.#fills
    if (fills === undefined) return undefined
    this.#fills = undefined
    return runEach(fills)
  }

  async #copyInTurns(from: Uint8Array, to: Uint8Array): Promise<void> {
    for (let at = 0; at < to.length; ) {
      if (this.#left === 0) {
        await turn()
        this.#left = turnBytes
      }
      if (from.length !== to.length)
        throw new InvalidArgument('expected memory that stays until it is copied, it was moved')
      const end = Math.min(at + this.#left, to.length)
      to.set(from.subarray(at, end), at)
      this.#left -= end - at
      at = end
    }
  }
}

async function runEach(fills: readonly (() => Promise<void>)[]): Promise<void> {
  for (const fill of fills) await fill()
}
