import { Worker } from 'node:worker_threads'

/** A job that a worker runs: BullMQ's queue, name and token of it, and the time for the attempt. */
export interface HeldLease {
  readonly queue: string
  readonly id: string
  readonly token: string
  readonly timeoutMs: number
}

/** What the thread is told. */
export type LeaseCall =
  | ({ readonly kind: 'hold' } & HeldLease)
  | { readonly kind: 'drop'; readonly token: string }

/** What became of a lease. */
export type LeaseState = 'held' | 'canceled' | 'lost'

/** What the thread tells. */
export type LeaseNews =
  | { readonly kind: 'canceled' | 'lost'; readonly id: string; readonly token: string }
  | { readonly kind: 'failed'; readonly error: Error }

/** What the thread needs. */
export interface LeaseThreadData {
  readonly url: string
  /** Of the keys of records, and of BullMQ's. */
  readonly prefix: string
  readonly queuePrefix: string
  readonly leaseMs: number
  readonly renewMs: number
}

/** The compiled thread, also in tests: Node 20 starts no thread on TypeScript. */
const entry = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../../dist/jobs/bullmq/lease-thread.js'
    : './lease-thread.js',
  import.meta.url,
)

/**
 * The leases of one worker, which a thread renews whatever its functions compute.
 *
 * @param tell - Called with what the thread sees.
 */
export function leasesOf(data: LeaseThreadData, tell: (news: LeaseNews) => void) {
  const thread = new Worker(entry, { workerData: data })
  thread.on('message', tell)
  thread.on('error', (error) => tell({ kind: 'failed', error: error as Error }))
  thread.unref()
  const calls: LeaseCall[] = []
  return {
    /** Those of one turn travel together: before a function runs, whose attempt begins by an answer of another turn. */
    send(call: LeaseCall): void {
      if (calls.push(call) === 1) setImmediate(() => thread.postMessage(calls.splice(0)))
    },
    close: () => thread.terminate(),
  }
}
