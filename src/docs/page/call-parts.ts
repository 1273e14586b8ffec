/** What a call was doing when, and why its batch was so large, in words. @module */

import type { CallRecord, RunnerCallRecord } from '../../http/call-record.ts'

/** Parts that have a colour; `rest` is all around them. */
export const partKinds = [
  'decode',
  'function',
  'queue',
  'batch',
  'model',
  'encode',
  'rest',
] as const

/** What a part is told by. */
export type PartKind = (typeof partKinds)[number]

/** A part of a call. **Units**: milliseconds since its start. */
export interface CallPart {
  readonly kind: PartKind
  readonly name: string
  readonly from: number
  readonly to: number
}

/** @returns the parts of a call in the order in which they are drawn, later ones above. */
export function partsOf(call: CallRecord): CallPart[] {
  const { stages, runs, totalMs } = call
  const first = stages[0]?.from ?? totalMs
  const last = Math.max(0, ...stages.map(({ to }) => to ?? totalMs))
  const rest = (name: string, from: number, to: number): CallPart => ({
    kind: 'rest',
    name,
    from,
    to,
  })
  const around = [rest('headers, body and hooks', 0, first), rest('send', last, totalMs)]
  const ofStages = stages.map(({ name, from, to = totalMs }) => ({
    kind: name as PartKind,
    name,
    from,
    to,
  }))
  const ofRuns = runs.flatMap((run) => partsOfRun(run, totalMs))
  if (stages.length === 0) return [rest('no function ran', 0, totalMs), ...ofRuns]
  return [...around, ...ofStages, ...ofRuns]
}

function partsOfRun(run: RunnerCallRecord, totalMs: number): CallPart[] {
  const { name, queuedAt, endedAt = totalMs, dispatchedAt = endedAt, job } = run
  const part = (kind: PartKind, what: string, from: number, to: number) => ({
    kind,
    name: `${what} of ${name}`,
    from,
    to,
  })
  const queue = part('queue', 'queue', queuedAt, dispatchedAt)
  if (job === undefined) return [queue]
  const { from, to = endedAt } = job.model
  return [
    queue,
    part('batch', 'batch, joined', dispatchedAt, from),
    part('model', 'model', from, to),
    part('batch', 'batch, split', to, Math.max(to, endedAt)),
  ]
}

/** @returns a job by its number; that of another process is told as such. */
export function jobName(id: string, isBatch: boolean): string {
  const [process, number] = id.split('-')
  return `${isBatch ? 'batch' : 'message'} ${number} of process ${process}`
}

/** @returns why what a thread got was as large as it was. */
export function jobText(run: RunnerCallRecord): string {
  const { name, job, queuedAt, dispatchedAt } = run
  if (job === undefined) return `The call of ${name} ended in the queue: no thread has had it.`
  const { isBatch, calls, rows, id, model } = job
  const took =
    model.to === undefined ? 'still in the model' : `${msText(model.to - model.from)} in the model`
  const parts = [counted(calls, 'call'), took]
  if (rows !== undefined) parts.splice(1, 0, counted(rows, 'row'))
  const size = `${jobName(id, isBatch)} of ${name}: ${parts.join(', ')}.`
  const waited = (dispatchedAt ?? queuedAt) - queuedAt
  const company =
    calls === 1 ? 'No other call waited then.' : 'It took all that waited, up to its largest size.'
  return `${size[0].toUpperCase()}${size.slice(1)} ${waitText(run, waited)} ${company}`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** Below it a call has not waited for anything. **Units**: milliseconds. */
const noWaitMs = 0.5

function waitText({ waitedFor, job }: RunnerCallRecord, waited: number): string {
  if (waitedFor !== undefined) {
    const before = jobName(waitedFor, job?.isBatch ?? false)
    return `This call waited ${msText(waited)}, until ${before} had ended and a thread was free.`
  }
  if (waited < noWaitMs) return 'This call did not wait.'
  const cause = job?.isBatch ? 'others, which maxWaitMs bounds' : 'a thread'
  return `This call waited ${msText(waited)} for ${cause}.`
}

/** @returns a time in words: `0.12 ms`, `34 ms`, `1.2 s`. */
export function msText(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toPrecision(3)} s`
  return `${ms >= 10 ? Math.round(ms) : Number(ms.toPrecision(2))} ms`
}
