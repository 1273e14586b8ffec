/** Questions and answers between a supervisor and a worker process. @module */
import { Questions } from '../../core/questions.ts'
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
  const questions = new Questions()
  channel.on('message', async (message) => {
    if (isMessageOf('question', message)) {
      const { id, question } = message
      channel.send({ kind: 'answer', id, answer: await answer(question) }, ignore)
    } else if (isMessageOf('answer', message)) {
      questions.answer(message.id, message.answer)
    }
  })
  return {
    ask: (question) =>
      questions
        .ask((id) => channel.send({ kind: 'question', id, question }, ignore))
        .catch(() => undefined),
    end: () => questions.end(new Error('the process has ended')),
  }
}

function ignore(): void {}
