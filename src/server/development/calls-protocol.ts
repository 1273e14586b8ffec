/** Tells the page of the last calls, those of the other processes, too. @module */

import { setTimeout as wait } from 'node:timers/promises'
import { type Endpoint, getPage } from '../../api/endpoint.ts'
import type { Group, Host } from '../../api/protocol.ts'
import type { CallRecord } from '../../http/call-record.ts'
import { encodeEvent, eventHeaders } from '../../http/event-stream.ts'
import { CallRecorder } from '../../telemetry/calls/call-recorder.ts'

/** How long new calls gather. **Units**: milliseconds. */
const gatherMs = 300
/** Proxies close a silent connection. */
const heartbeatTurns = 16
/** For another process to answer. **Units**: milliseconds. */
const answerMs = 500

const probes = ['/livez', '/readyz', '/healthz', '/metrics']
const documents = ['/', '/docs', '/openapi.json', '/docs.json', '/asyncapi.json']

/** By process, the last call that a page has. */
type Seen = Readonly<Record<number, number>>

/** @returns a recorder of the calls of this process. */
export function openRecorder(): CallRecorder {
  return new CallRecorder()
}

/** Serves events, each of which has the calls since the last one. */
export function attachCalls(host: Host, recorder: CallRecorder): void {
  const { prefix } = host
  const behind = (seen: Seen) => recorder.after(seen[recorder.process] ?? 0)
  const quiet = new Set([...probes, ...documents.map((path) => prefix + path)])
  recorder.isQuiet = (name = '') => quiet.has(name) || name.startsWith(`${prefix}/docs/`)
  const others = host.group<Seen, readonly CallRecord[]>('calls', async (seen) => behind(seen))
  const isOver = () => host.unready() !== undefined
  host.http(callsEndpoint(prefix, () => callEvents(behind, others, isOver)))
}

function callsEndpoint(prefix: string, events: () => AsyncIterable<string>): Endpoint {
  const access = { kind: 'service' } as const
  const answer = () => ({ headers: eventHeaders, body: events() })
  return { ...getPage(`${prefix}/docs/calls`, access, [], answer), origins: 'same' }
}

async function* callEvents(
  behind: (seen: Seen) => readonly CallRecord[],
  others: Group<Seen, readonly CallRecord[]>,
  isOver: () => boolean,
): AsyncGenerator<string> {
  const seen: Record<number, number> = {}
  for (let turn = 0; !isOver() || turn === 0; turn++) {
    const answers = await others.ask(seen, { withinMs: answerMs })
    const all = [behind(seen), ...answers.filter((answer) => answer !== 'late')].flat()
    for (const { process, sequence } of all) seen[process] = Math.max(sequence, seen[process] ?? 0)
    // The first one comes also without calls.
    if (all.length > 0 || turn === 0) yield encodeEvent({ data: JSON.stringify(all) })
    else if (turn % heartbeatTurns === 0) yield ':\n\n'
    await wait(gatherMs, undefined, { ref: false })
  }
}
