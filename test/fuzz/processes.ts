/**
 * Looks at a server's processes from outside, in /proc; Linux only.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'

/** What was seen of a server's processes. */
export interface Seen {
  /** Distinct processes; more than there should be were restarted. */
  readonly workers: ReadonlySet<number>
  /** Peak of resident memory. **Units**: bytes. */
  readonly workerPeak: number
  /** The largest at the last look. **Units**: bytes. */
  readonly workerNow: number
}

const looksEveryMs = 50

/** Watches the tree below `pid` until it is stopped. */
export function watchProcesses(pid: number): { seen: () => Seen; stop: () => void } {
  const workers = new Set<number>()
  let workerPeak = 0
  let workerNow = 0
  const look = () => {
    workerNow = 0
    for (const worker of childrenOf(pid)) {
      workers.add(worker)
      workerPeak = Math.max(workerPeak, memory(worker, 'VmHWM'))
      workerNow = Math.max(workerNow, memory(worker, 'VmRSS'))
    }
  }
  look()
  const timer = setInterval(look, looksEveryMs)
  return {
    seen() {
      look()
      return { workers, workerPeak, workerNow }
    },
    stop: () => clearInterval(timer),
  }
}

/** Processes that a process has started and that are there. */
export function childrenOf(pid: number): number[] {
  try {
    // Any thread may have started a child.
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
        .split(' ')
        .filter(Boolean)
        .map(Number),
    )
  } catch {
    return []
  }
}

/** Returns the memory of a process, as the kernel counts it. **Units**: bytes; 0 when it is gone. */
export function memory(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

/** Returns the number of open file descriptors of a process; 0 when it is gone. */
export function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** When a process was started, in ticks of the kernel since it was; undefined when it is gone. */
export function startOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  } catch {
    return undefined
  }
}
