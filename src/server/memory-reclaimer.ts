/**
 * Returns memory to the system when a burst is over.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import { addon } from '../core/native/add-on.ts'

/** How often the process is checked. **Units**: milliseconds. */
const checkMs = 5_000
/** Growth since the last collection that makes another one worthwhile. **Units**: bytes. */
const minGrowthBytes = 64 * 1024 * 1024

/** Time for the finalizers of collected buffers to free their memory. **Units**: milliseconds. */
const finalizersMs = 200

/** What a reclaimer needs of its process; replaced in tests. */
export interface ReclaimerProcess {
  /** Resident memory. **Units**: bytes. */
  rss(): number
  /** Collects garbage and returns free memory to the system. */
  reclaim(): Promise<void>
}

/**
 * Watches a worker and reclaims its memory when no request has run for 5 s and more than 64 MiB have been added since
 * the last time. Between two bursts with less time between them, the second one would pay for memory fresh from the
 * system: 16 requests of 1000×1000 numbers every few seconds took 8 % more CPU.
 *
 * V8 sees no reason to collect in an idle process, and glibc keeps the free memory of each thread's arena: after 20 s
 * of 20 MB bodies on 16 connections a worker of 122 MB stayed at 561 MB for good.
 * **Cost**: reading the resident size every 5 s; a full collection, about 20 ms, at the end of a burst.
 */
export class MemoryReclaimer {
  readonly #timer: NodeJS.Timeout
  readonly #process: ReclaimerProcess
  /** Resident memory after the last reclaim; before the first one, the lowest seen. */
  #baseline: number
  #busy = false

  /** `isIdle`: whether no request was open since its last call. */
  constructor(isIdle: () => boolean, process: ReclaimerProcess = thisProcess) {
    this.#process = process
    this.#baseline = process.rss()
    this.#timer = setInterval(() => {
      // Without a free file descriptor the resident memory cannot be read; the next check may succeed.
      if (isIdle()) this.check().catch(() => {})
    }, checkMs).unref()
  }

  /** Reclaims when enough has been added. Called while no request runs. */
  async check(): Promise<void> {
    const rss = this.#process.rss()
    this.#baseline = Math.min(this.#baseline, rss)
    if (this.#busy || rss - this.#baseline < minGrowthBytes) return
    this.#busy = true
    try {
      await this.#process.reclaim()
      this.#baseline = this.#process.rss()
    } finally {
      this.#busy = false
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

let collect: (() => void) | undefined

const thisProcess: ReclaimerProcess = {
  rss: () => process.memoryUsage.rss(),
  reclaim: async () => {
    if (collect === undefined) {
      setFlagsFromString('--expose-gc')
      collect = runInNewContext('gc') as () => void
      setFlagsFromString('--no-expose-gc')
    }
    bufferPool.clear()
    // What only finalizers of the first collection make unreachable is freed by the second.
    for (let i = 0; i < 2; i++) {
      collect()
      await wait(finalizersMs, undefined, { ref: false })
    }
    addon?.trimMemory()
  },
}
