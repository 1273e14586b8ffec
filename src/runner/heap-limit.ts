/** The memory that there is, and the heap limit of a runner's threads. @module */
import { totalmem } from 'node:os'

const mib = 1024 * 1024
// Up to here a thread that fills its heap ends alone; with 3 GiB, V8 ended the whole process in some runs.
const maxHeapMb = 2048
const minHeapMb = 64

/** The machine's memory, or less in a container. **Units**: bytes. */
export function usableMemory(): number {
  const limit = process.constrainedMemory?.() ?? 0
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** Half of `memory` (bytes), divided by the threads. **Units**: MiB. */
export function heapLimitMb(threads: number, memory: number = usableMemory()): number {
  return Math.max(minHeapMb, Math.min(maxHeapMb, Math.floor(memory / mib / 2 / threads)))
}
