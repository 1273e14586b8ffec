import { type FSWatcher, watch } from 'node:fs'

/** Longest pause between looks where the system does not tell of writes. **Units**: milliseconds. */
const idleMs = 250
/** Pause after a look that failed, as on a full disk. **Units**: milliseconds. */
const failedMs = 1_000

/** Calls `look` soon after any process has written to a file, and now and then without that. */
export class WriteWatch {
  /** @returns when it must be called again at the latest. */
  readonly #look: () => number
  readonly #failed: (error: unknown) => void
  readonly #watcher: FSWatcher | undefined
  #timer: NodeJS.Timeout | undefined
  #at = 0
  #writtenAt = 0
  #resumesAt = 0
  #isClosed = false

  constructor(path: string, look: () => number, failed: (error: unknown) => void) {
    this.#look = look
    this.#failed = failed
    try {
      // Where it fails, looks come late by their pause.
      this.#watcher = watch(path, () => {
        this.#writtenAt = Date.now()
        this.lookIn(1)
      }).on('error', () => {})
    } catch {}
    this.lookIn(idleMs)
  }

  /** Looks after some time, unless a look is nearer. */
  lookIn(ms: number): void {
    const now = Date.now()
    const at = Math.max(now + ms, this.#resumesAt)
    if (this.#isClosed || (this.#timer !== undefined && at >= this.#at)) return
    clearTimeout(this.#timer)
    this.#at = at
    this.#timer = setTimeout(() => this.#turn(), at - now)
  }

  close(): void {
    this.#isClosed = true
    this.#watcher?.close()
    clearTimeout(this.#timer)
  }

  #turn(): void {
    this.#timer = undefined
    let due = Number.POSITIVE_INFINITY
    try {
      due = this.#look()
    } catch (error) {
      this.#failed(error)
      this.#resumesAt = Date.now() + failedMs
    }
    const now = Date.now()
    // A commit can be read as long after its first write as the disk takes, and is found half of that later.
    this.lookIn(Math.max(1, Math.min((now - this.#writtenAt) / 2, due - now, idleMs)))
  }
}
