/**
 * Requests of a supervisor to several worker processes, and their answers.
 * @module
 */
import type { SupervisorMessage } from './worker-messages.ts'

/** The part of a worker of node:cluster that requests to it need. */
export interface WorkerChannel {
  readonly process: { on(event: 'close', listener: () => void): unknown }
  on(event: 'message', listener: (message: unknown) => void): unknown
  send(message: SupervisorMessage, callback: (error: Error | null) => void): boolean
}

interface Pending<Answer> {
  readonly missing: Set<WorkerChannel>
  readonly answers: Answer[]
  readonly done: () => void
}

/** Sends requests to worker processes and collects their answers; one of a kind of request. */
export class WorkerPoll<Answer> {
  readonly #pending = new Map<number, Pending<Answer>>()
  #ids = 0

  /**
   * Sends a request to workers and waits for their answers, for at most `timeoutMs`. Returns the answers, and how many
   * workers were too late; one that has ended counts as neither.
   */
  async ask(
    workers: Iterable<WorkerChannel>,
    timeoutMs: number,
    requestOf: (id: number) => SupervisorMessage,
  ): Promise<{ readonly answers: readonly Answer[]; readonly late: number }> {
    const id = ++this.#ids
    const missing = new Set(workers)
    const answers: Answer[] = []
    if (missing.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        const done = () => {
          clearTimeout(timer)
          resolve()
        }
        this.#pending.set(id, { missing, answers, done })
        // The callback receives the error of a worker that has just died; `end` follows.
        for (const worker of missing) worker.send(requestOf(id), () => {})
      })
      this.#pending.delete(id)
    }
    return { answers, late: missing.size }
  }

  /** Takes the answer of a worker to the request `id`. */
  take(worker: WorkerChannel, id: number, answer: Answer): void {
    const pending = this.#pending.get(id)
    if (pending?.missing.delete(worker) !== true) return
    pending.answers.push(answer)
    if (pending.missing.size === 0) pending.done()
  }

  /** Called when a worker has ended: nothing waits for it any more. */
  end(worker: WorkerChannel): void {
    for (const { missing, done } of this.#pending.values()) if (missing.delete(worker) && missing.size === 0) done()
  }
}
