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
export function partsOf({ stages, runs, totalMs }: CallRecord): CallPart[] {
  const rest = (name: string, from: number, to: number): CallPart => {
    return { kind: 'rest', name, from, to }
  }
  const ofRuns = runs.flatMap((run) => partsOfRun(run, totalMs))
  const ofStages = stages.map(({ name, from, to = totalMs }): CallPart => {
    return { kind: name as PartKind, name, from, to }
  })
  const [first] = ofStages
  if (first === undefined) return [rest('no function ran', 0, totalMs), ...ofRuns]
  const last = Math.max(...ofStages.map(({ to }) => to))
  return [
    rest('headers, body and hooks', 0, first.from),
    rest('send', last, totalMs),
    ...ofStages,
    ...ofRuns,
  ]
}

/** @returns the parts of a call of a Runner. `totalMs`: when the call ended. */
export function partsOfRun(run: RunnerCallRecord, totalMs: number): CallPart[] {
  const { name, queuedAt, endedAt = totalMs, dispatchedAt = endedAt, job } = run
  const part = (kind: PartKind, what: string, from: number, to: number): CallPart => {
    return { kind, name: `${what} of ${name}`, from, to }
  }
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

/** @returns a job by its number in its process. */
export function jobLabel(id: string, isBatch: boolean): string {
  return `${isBatch ? 'batch' : 'message'} ${id.split('-')[1]}`
}

/** @returns a job by its number and its process. */
export function jobName(id: string, isBatch: boolean): string {
  return `${jobLabel(id, isBatch)} of process ${id.split('-')[0]}`
}

/** @returns why what a thread got was as large as it was. */
export function jobText(run: RunnerCallRecord): string {
  const { name, job, queuedAt, dispatchedAt = queuedAt } = run
  if (job === undefined) return `The call of ${name} ended in the queue: no thread has had it.`
  const { isBatch, calls, rows, id, model } = job
  const took =
    model.to === undefined ? 'still in the model' : `${msText(model.to - model.from)} in the model`
  const size = [counted(calls, 'call'), rows !== undefined && counted(rows, 'row'), took]
  const company =
    calls === 1 ? 'No other call waited then.' : 'It took all that waited, up to its largest size.'
  const told = `${jobName(id, isBatch)} of ${name}: ${size.filter(Boolean).join(', ')}.`
  return `${told[0].toUpperCase()}${told.slice(1)} ${waitText(run, dispatchedAt - queuedAt)} ${company}`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** Below it a call has not waited for anything. **Units**: milliseconds. */
const noWaitMs = 0.5

function waitText({ waitedFor, job }: RunnerCallRecord, waited: number): string {
  const isBatch = job?.isBatch ?? false
  if (waitedFor !== undefined) {
    const before = jobName(waitedFor, isBatch)
    return `This call waited ${msText(waited)}, until ${before} had ended and a thread was free.`
  }
  if (waited < noWaitMs) return 'This call did not wait.'
  const cause = isBatch ? 'others, which maxWaitMs bounds' : 'a thread'
  return `This call waited ${msText(waited)} for ${cause}.`
}

/** @returns a time in words: `0.12 ms`, `34 ms`, `1.2 s`. */
export function msText(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toPrecision(3)} s`
  return `${ms >= 10 ? Math.round(ms) : Number(ms.toPrecision(2))} ms`
}
