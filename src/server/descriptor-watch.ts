/** Warns when a process runs out of file descriptors. @module */
import { readdirSync, readFileSync } from 'node:fs'
import type { Logger } from '../engine/log.ts'

const watchMs = 5_000
// Fractions of the limit: warns at the first, and again only after usage was below the second.
const warnAt = 0.9
const calmAt = 0.7

/**
 * Warns when nearly all file descriptors are in use: above the limit neither uWebSockets.js nor Node tells, and new
 * connections wait in the kernel. Does nothing where there is no `/proc`. Returns what stops it.
 */
export function watchDescriptors(log: Logger): () => void {
  const limit = openFileLimit()
  if (limit === undefined) return () => {}
  let hasWarned = false
  const timer = setInterval(() => {
    const open = openFileCount(limit)
    if (open >= warnAt * limit && !hasWarned) {
      hasWarned = true
      const message = `${open} of ${limit} file descriptors are in use: connections above that wait (ulimit -n)`
      log.warn({ event: 'file_descriptors', open, limit }, message)
    } else if (open < calmAt * limit) hasWarned = false
  }, watchMs).unref()
  return () => clearInterval(timer)
}

/** Listing takes a descriptor as well: when it fails, the process is at its limit. */
function openFileCount(limit: number): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return limit
  }
}

function openFileLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
