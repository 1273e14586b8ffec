/**
 * @returns memory to the system when a burst is over.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import { addon } from '../core/native/add-on.ts'

const checkMs = 5_000
/** Growth since the last collection that makes another one worthwhile. **Units**: bytes. */
const minGrowthBytes = 64 * 1024 * 1024

const finalizersMs = 200

/** What a reclaimer needs of its process; replaced in tests. */
export interface ReclaimerProcess {
  /** Undefined where the system does not tell: without `/proc`, or without a free file descriptor. */
  rss(): number | undefined
  reclaim(): Promise<void>
}

/**
 * Reclaims memory when no request has run for 5 s and more than 64 MiB have been added: V8 does not collect in an idle
 * process, and glibc keeps the free memory of each thread's arena, for good. After bursts of 16 bodies of 20 MB, a
 * worker of 95 MB stays at 725 MB without it, at 735 MB with `MALLOC_ARENA_MAX=2`, at 546 MB if only glibc gives back,
 * and comes to 103 MB with it.
 */
export function reclaimMemory(isIdle: () => boolean, process: ReclaimerProcess = thisProcess()) {
  // Resident memory after the last reclaim; before the first one, the lowest seen.
  let baseline = process.rss() ?? Number.POSITIVE_INFINITY
  let isBusy = false
  const check = async () => {
    const rss = process.rss()
    if (rss === undefined) return
    baseline = Math.min(baseline, rss)
    if (isBusy || rss - baseline < minGrowthBytes) return
    isBusy = true
    try {
      await process.reclaim()
      baseline = process.rss() ?? baseline
    } finally {
      isBusy = false
    }
  }
  const timer = setInterval(() => {
    if (isIdle()) check().catch(() => {})
  }, checkMs).unref()
  return { check, stop: () => clearInterval(timer) }
}

function thisProcess(): ReclaimerProcess {
  let collect: (() => void) | undefined
  return {
    rss: () => {
      try {
        return process.memoryUsage.rss()
      } catch {
        return undefined
      }
    },
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
}
