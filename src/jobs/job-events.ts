import type { Visit } from '../api/visit.ts'
import { parseText } from '../core/text/parse-text.ts'
import { encodeEvent } from '../http/event-stream.ts'
import { isFinal, type Job, type JobEvent } from './job.ts'
import { timeOf } from './job-answers.ts'
import type { Jobs } from './jobs.ts'

/** Proxies and clients close connections that say nothing. **Units**: milliseconds. */
const heartbeatMs = 5_000

/**
 * The events of a job behind `after`, to the last one or the server's end; undefined after a while without events, or
 * without memory for them.
 */
export async function* eventsBehind(
  jobs: Jobs,
  of: Job,
  after: number,
  visit: Visit,
): AsyncGenerator<JobEvent | undefined> {
  const memory = visit.account()
  const changes = jobs.changes(of.id)
  visit.ctx.onEnd(() => changes.stop())
  try {
    for (;;) {
      // Before the events: those of an ended job are all there.
      const job = await jobs.look(of)
      const events = await jobs.events(of.id, after, memory)
      for (const event of events ?? []) {
        after = event.sequence
        yield event
      }
      memory.hold(0)
      if (events !== undefined) {
        if (events.length > 0) continue
        if (job === undefined || isFinal(job.status)) return
      }
      if (changes.isStopped) {
        // Lets the reader see that the server stops, and not the job.
        yield undefined
        return
      }
      if (!(await changes.next(heartbeatMs))) yield undefined
    }
  } finally {
    changes.stop()
  }
}

/** {@link eventsBehind} as server-sent events. */
export async function* jobEvents(...of: Parameters<typeof eventsBehind>): AsyncGenerator<string> {
  for await (const event of eventsBehind(...of)) {
    yield event === undefined ? ':\n\n' : textOf(event)
  }
}

/** Texts of events that several clients read at the same time. */
const texts = new WeakMap<JobEvent, string>()

function textOf(event: JobEvent): string {
  const text =
    texts.get(event) ??
    encodeEvent({ id: String(event.sequence), event: event.kind, data: dataOf(event) })
  texts.set(event, text)
  return text
}

function dataOf({ kind, at, data }: JobEvent): string {
  return JSON.stringify({ [kind]: kind === 'progress' ? parseText(data) : data, at: timeOf(at) })
}
