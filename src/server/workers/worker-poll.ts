/** Requests between a supervisor and its worker processes, and their answers. @module */
import { type SupervisorMessage, sendToSupervisor, type WorkerMessage } from './worker-messages.ts'

/** What requests are sent to. `callback` is called when a message has left, or could not. */
export interface Channel<Message> {
  send(message: Message, callback: (error: Error | null) => void): unknown
}

/** The part of a worker of node:cluster that requests to it need. */
export interface WorkerChannel extends Channel<SupervisorMessage> {
  readonly process: { on(event: 'close', listener: () => void): unknown }
  on(event: 'message', listener: (message: unknown) => void): unknown
}

/** The supervisor of this worker process. */
export const supervisorChannel: Channel<WorkerMessage> = { send: (message) => void sendToSupervisor(message) }

interface Pending<Answer, Message> {
  readonly missing: Set<Channel<Message>>
  readonly answers: Answer[]
  readonly done: () => void
}

/** Sends requests to processes and collects their answers; one of a kind of request. */
export class WorkerPoll<Answer, Message = SupervisorMessage> {
  readonly #pending = new Map<number, Pending<Answer, Message>>()
  #ids = 0

  /** Sends a request to processes; returns the answers that come within `timeoutMs`, and how many were late. */
  async ask(
    channels: Iterable<Channel<Message>>,
    timeoutMs: number,
    requestOf: (id: number) => Message,
  ): Promise<{ readonly answers: readonly Answer[]; readonly late: number }> {
    const id = ++this.#ids
    const missing = new Set(channels)
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
        for (const channel of missing) channel.send(requestOf(id), () => {})
      })
      this.#pending.delete(id)
    }
    return { answers, late: missing.size }
  }

  take(channel: Channel<Message>, id: number, answer: Answer): void {
    const pending = this.#pending.get(id)
    if (pending?.missing.delete(channel) !== true) return
    pending.answers.push(answer)
    if (pending.missing.size === 0) pending.done()
  }

  end(channel: Channel<Message>): void {
    for (const { missing, done } of this.#pending.values()) if (missing.delete(channel) && missing.size === 0) done()
  }
}
