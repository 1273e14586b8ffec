/**
 * CPU time and memory of a process with all its children, from Linux's /proc.
 * @module
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Usage } from './servers/listening.ts'

/** Whether this system has /proc. */
export const hasProcFs = process.platform === 'linux'

// The kernel counts in ticks of 10 ms wherever Node runs.
const microsPerTick = 10_000

/**
 * Fields of `/proc/PID/stat` after the name, which may hold anything; undefined when the process is gone. **Source**:
 * proc(5).
 */
function statOf(pid: number | string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/** Returns a process and its descendants, itself first. */
export function familyOf(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) parents.set(Number(name), Number(statOf(name)?.[1]))
  }
  const family = new Set([root])
  for (let size = 0; size !== family.size; ) {
    size = family.size
    for (const [pid, parent] of parents) if (family.has(parent)) family.add(pid)
  }
  return [...family]
}

/** Returns what a process and its descendants have used so far; peaks are added up. */
export function usageOfTree(root: number): Usage {
  let cpuMicros = 0
  let peakBytes = 0
  for (const pid of familyOf(root)) {
    const stat = statOf(pid)
    if (stat === undefined) continue
    const ticks = (Number(stat[11]) + Number(stat[12])) * microsPerTick
    // Exact, but without threads that have ended.
    cpuMicros += Math.max(ticks, threadMicros(pid))
    peakBytes += statusBytes(pid, 'VmHWM')
  }
  return { cpuMicros, peakBytes }
}

/** Returns what the threads of a process have used so far; 0 where the kernel does not tell. **Source**: proc(5). */
function threadMicros(pid: number): number {
  try {
    const times = readdirSync(`/proc/${pid}/task`).map((thread) => {
      const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1')
      return Number(text.split(' ')[0])
    })
    return times.reduce((sum, nanos) => sum + nanos, 0) / 1000
  } catch {
    return 0
  }
}

/** Returns the resident memory of a process. **Units**: bytes. */
export const residentBytes = (pid: number) => statusBytes(pid, 'VmRSS')

/** Resets the peak of a process. **Source**: proc(5), `clear_refs`. */
export function restartPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function statusBytes(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

/** Returns the CPU time of children that have ended and were waited for. **Units**: microseconds. */
export function endedChildrenCpu(): number {
  const stat = hasProcFs ? statOf('self') : undefined
  return stat === undefined ? 0 : (Number(stat[13]) + Number(stat[14])) * microsPerTick
}
