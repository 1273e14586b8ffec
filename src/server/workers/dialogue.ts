/** Questions and answers between a supervisor and a worker process. @module */
import type { MetricFamily } from '../../telemetry/metrics/metric-family.ts'
import { isMessageOf, type ProcessMessage, type Question } from './worker-messages.ts'

/** The metrics of one process. */
export type Families = readonly MetricFamily[]

/** The other end: a worker of node:cluster, or the supervisor. */
export interface Channel {
  on(event: 'message', listener: (message: unknown) => void): unknown
  /** `callback` gets the error of a process that has just ended. */
  send(message: ProcessMessage, callback: () => void): unknown
}

/** One end of a channel, which asks the other one and answers it. */
export class Dialogue {
  readonly #channel: Channel
  readonly #pending = new Map<number, (answer: unknown) => void>()
  #ids = 0

  constructor(channel: Channel, answer: (question: Question) => Promise<unknown>) {
    this.#channel = channel
    channel.on('message', async (message) => {
      if (isMessageOf('question', message)) {
        const { id, question } = message
        channel.send({ kind: 'answer', id, answer: await answer(question) }, ignore)
      } else if (isMessageOf('answer', message)) {
        this.#pending.get(message.id)?.(message.answer)
        this.#pending.delete(message.id)
      }
    })
  }

  /** Resolves to the answer, or to undefined if the other process ends before. */
  ask(question: Question): Promise<unknown> {
    const id = ++this.#ids
    return new Promise((resolve) => {
      this.#pending.set(id, resolve)
      this.#channel.send({ kind: 'question', id, question }, ignore)
    })
  }

  /** Called when the other process has ended. */
  end(): void {
    for (const resolve of this.#pending.values()) resolve(undefined)
    this.#pending.clear()
  }
}

function ignore(): void {}
