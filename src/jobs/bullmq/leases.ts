import { Worker } from 'node:worker_threads'
import { leaseClock, type WorkQueue } from '../job-store.ts'

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
  readonly queues: readonly WorkQueue[]
  readonly slots: SharedArrayBuffer
}

/** **Units**: bytes. */
const slotBytes = 256

/**
 * Texts in memory that two threads share: one writes them, and the other reads them now and then. A message for each
 * job would wake it twice.
 */
export class Slots {
  readonly memory: SharedArrayBuffer
  readonly lengths: Int32Array
  readonly #texts: Buffer

  constructor(memory: SharedArrayBuffer | number) {
    this.memory =
      typeof memory === 'number' ? new SharedArrayBuffer(memory * (4 + slotBytes)) : memory
    const count = this.memory.byteLength / (4 + slotBytes)
    this.lengths = new Int32Array(this.memory, 0, count)
    this.#texts = Buffer.from(this.memory, 4 * count)
  }

  /** A slot with '' is free. */
  write(slot: number, text: string): void {
    const length = this.#texts.write(text, slot * slotBytes, slotBytes, 'latin1')
    Atomics.store(this.lengths, slot, length)
  }

  read(slot: number): string {
    const from = slot * slotBytes
    return this.#texts.toString('latin1', from, from + Atomics.load(this.lengths, slot))
  }
}

/** The compiled thread, also in tests: Node 20 starts no thread on TypeScript. */
const entry = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../../dist/jobs/bullmq/lease-thread.js'
    : './lease-thread.js',
  import.meta.url,
)

/** The leases of one worker, which a thread renews whatever its functions compute. */
export class Leases {
  readonly #thread: Worker
  readonly #slots: Slots
  readonly #free: number[]
  readonly #apis: readonly string[]

  /** `tell`: called with what the thread sees. */
  constructor(data: Omit<LeaseThreadData, 'slots'>, tell: (news: LeaseNews) => void) {
    const { queues } = data
    this.#apis = queues.map(({ api }) => api)
    this.#slots = new Slots(queues.reduce((sum, { concurrency }) => sum + concurrency, 0))
    this.#free = [...this.#slots.lengths.keys()]
    const workerData: LeaseThreadData = { ...data, slots: this.#slots.memory }
    this.#thread = new Worker(entry, { workerData })
    this.#thread.on('message', tell)
    this.#thread.on('error', (error) => tell({ kind: 'failed', error: error as Error }))
    this.#thread.unref()
  }

  /** Renews the lease of a job, by BullMQ's token, for some time. Returns what ends that. */
  hold(api: string, id: string, token: string, timeoutMs: number): () => void {
    const slot = this.#free.pop() as number
    const lease = [this.#apis.indexOf(api), id, token, leaseClock() + timeoutMs]
    this.#slots.write(slot, lease.join(' '))
    return () => {
      this.#slots.write(slot, '')
      this.#free.push(slot)
    }
  }

  async close(): Promise<void> {
    await this.#thread.terminate()
  }
}
