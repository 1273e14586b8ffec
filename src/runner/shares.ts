/** Fair shares of a runner's time: a tree of priorities, the APIs of each, and their callers. @module */

import { checkThat } from '../core/options.ts'
import { Context } from '../http/context.ts'
import { ownerOf } from '../http/owner-key.ts'
import type { CallOptions } from './runner-options.ts'

// Beyond so many, those without a waiting call are forgotten, and with them the time that they have had.
const maxShares = 1024

/** A part of a runner's calls. Of equal priority, the part that has had the least time goes first. */
export class Share {
  readonly parent: Share | undefined
  readonly priority: number
  readonly #parts = new Map<string | number | undefined, Share>()
  /** Of its waiting calls. **Units**: expected milliseconds. */
  waitingMs = 0
  #waiting = 0
  /** Never less than the part that was served last had: time without calls is not saved up. */
  #hadMs = 0
  #reachedMs = 0

  constructor(parent?: Share, priority = 0) {
    this.parent = parent
    this.priority = priority
  }

  /** @returns the share of who calls, of the root. */
  of(options: CallOptions): Share {
    const { priority = 0, share = 1 } = options
    checkThat(Number.isFinite(priority), 'a number', 'priority of a call', priority)
    checkThat(share > 0 && Number.isFinite(share), 'a number above 0', 'share of a call', share)
    const ctx = options instanceof Context ? options : undefined
    const owner = ctx?.caller && ownerOf(ctx)
    return this.#part(priority, priority).#part(ctx?.api, priority).#part(owner, priority)
  }

  #part(key: string | number | undefined, priority: number): Share {
    const known = this.#parts.get(key)
    if (known !== undefined) return known
    if (this.#parts.size >= maxShares) {
      for (const [other, { isIdle }] of this.#parts) if (isIdle) this.#parts.delete(other)
    }
    const part = new Share(this, priority)
    this.#parts.set(key, part)
    return part
  }

  get isIdle(): boolean {
    return this.#waiting === 0
  }

  /** A call waits from now on. */
  enter(ms: number): void {
    const { parent } = this
    this.waitingMs += ms
    if (this.#waiting++ === 0 && parent !== undefined)
      this.#hadMs = Math.max(this.#hadMs, parent.#reachedMs)
    parent?.enter(ms)
  }

  leave(ms: number, count = 1): void {
    this.#waiting -= count
    this.waitingMs = this.isIdle ? 0 : this.waitingMs - ms
    this.parent?.leave(ms, count)
  }

  /** A call that waited begins, and should take so long. */
  begin(ms: number): void {
    for (let share: Share = this; share.parent !== undefined; share = share.parent)
      share.parent.#reachedMs = Math.max(share.parent.#reachedMs, share.#hadMs)
    this.charge(ms)
  }

  charge(ms: number): void {
    this.#hadMs += ms
    this.parent?.charge(ms)
  }

  /** Whether the calls of a caller go before those of another. Undefined if neither has the right. */
  goesBefore(other: Share): boolean | undefined {
    if (this === other) return undefined
    if (this.priority !== other.priority) return this.priority > other.priority
    const apart = (this.parent as Share).#hadMs - (other.parent as Share).#hadMs
    const ms = apart === 0 ? this.#hadMs - other.#hadMs : apart
    return ms === 0 ? undefined : ms < 0
  }

  /** @returns what goes before the end of `ownMs` of the caller's calls, these included. **Units**: milliseconds. */
  msBefore(ownMs: number): number {
    let ms = ownMs
    for (let share: Share = this; share.parent !== undefined; share = share.parent) {
      let all = 0
      for (const part of share.parent.#parts.values()) {
        if (part === share) all += ms
        else if (part.priority > share.priority) all += part.waitingMs
        else if (part.priority === share.priority) all += Math.min(part.waitingMs, ms)
      }
      ms = all
    }
    return ms
  }
}
