/**
 * The heap limit of a runner's threads.
 * @module
 */
import { totalmem } from 'node:os'

const mib = 1024 * 1024
// Up to here a thread that fills its heap always ended alone (Node 20.20). With 3 GiB, and with Node's own default of
// 4, V8 ended the whole process in some runs.
const maxHeapMb = 2048
const minHeapMb = 64

/** Returns the memory that this process may use: the machine's, or less in a container. **Units**: bytes. */
function usableMemory(): number {
  // 0, or a number beyond any memory, where there is no limit.
  const limit = process.constrainedMemory?.() ?? 0
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/**
 * Returns the heap limit of each of so many threads: half of the memory, divided by them. **Units**: MiB; `memory`:
 * bytes.
 */
export function heapLimitMb(threads: number, memory: number = usableMemory()): number {
  return Math.max(minHeapMb, Math.min(maxHeapMb, Math.floor(memory / mib / 2 / threads)))
}
