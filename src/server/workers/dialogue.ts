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

/** One end of a channel. */
export interface Dialogue {
  /** Resolves to the answer of the other end, or to undefined if its process ends before. */
  ask(question: Question): Promise<unknown>
  /** Called when the other process has ended. */
  end(): void
}

/** @returns what asks the other end of a channel, and lets `answer` answer it. */
export function dialogue(
  channel: Channel,
  answer: (question: Question) => Promise<unknown>,
): Dialogue {
  const pending = new Map<number, (answer: unknown) => void>()
  let ids = 0
  channel.on('message', async (message) => {
    if (isMessageOf('question', message)) {
      const { id, question } = message
      channel.send({ kind: 'answer', id, answer: await answer(question) }, ignore)
    } else if (isMessageOf('answer', message)) {
      pending.get(message.id)?.(message.answer)
      pending.delete(message.id)
    }
  })
  return {
    ask(question) {
      const id = ++ids
      return new Promise((resolve) => {
        pending.set(id, resolve)
        channel.send({ kind: 'question', id, question }, ignore)
      })
    },
    end() {
      for (const resolve of pending.values()) resolve(undefined)
      pending.clear()
    },
  }
}

function ignore(): void {}
