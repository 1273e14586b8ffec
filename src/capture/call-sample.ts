/** One call that is recorded, from before its function to its end. @module */
import { createHash } from 'node:crypto'
import { ownerOf } from '../api/caller-identity.ts'
import type { Sample } from '../api/sampler.ts'
import { functionFailureOf } from '../api/stages.ts'
import { ServingError } from '../core/errors.ts'
import type { FormatDescription } from '../descriptors/description.ts'
import type { CallSpan, RunnerCallRecord } from '../http/call-record.ts'
import type { Context } from '../http/context.ts'
import { RecordedTrace, type RunnerHistory } from '../telemetry/calls/recorded-trace.ts'
import { columnOf } from '../values/table/columns.ts'
import { type Cells, messageBytes } from './cells.ts'

/** What samples of one API share. */
export interface SampledApi {
  readonly name: string
  readonly service: string
  readonly version: string | undefined
  /** Versions of models by the names of their Runners. */
  readonly models: ReadonlyMap<string, string>
  readonly input: FormatDescription | undefined
  readonly output: FormatDescription | undefined
  readonly history: RunnerHistory
}

/** What an answer of any protocol has. */
interface Answer {
  readonly error?: ServingError
  readonly status?: number | undefined
}

/**
 * @param attempt - Runs what records. Never throws.
 * @returns what sees a call, and adds the columns of every call at its end.
 */
export function sampleCall(
  { name: api, service, version, models, input, output, history }: SampledApi,
  ctx: Context,
  protocol: string | undefined,
  cells: Cells,
  attempt: (work: () => void) => void,
): Sample & { end(): void } {
  const time = BigInt(Date.now()) * 1000n
  let error: Error | undefined
  let status: number | undefined
  /** Adds the columns of messages, which have no end. */
  const counts: (() => void)[] = []

  /** The first answer counts: a deadline comes before what the function still does. */
  const end = (answer: Answer) => {
    if (ctx.trace === trace) ctx.trace = trace.inner
    if (status !== undefined) return
    error ??= answer.error
    status = answer.error?.status ?? answer.status ?? ctx.ownResponse?.status ?? 200
  }

  const sample = {
    input: (value: unknown) => attempt(() => cells.add('input', value, input)),
    result(value: unknown) {
      if (typeof (value as { readonly next?: unknown } | null | undefined)?.next === 'function')
        return sample.messages('output', value as AsyncIterable<unknown>)
      attempt(() => cells.add('output', value, output))
      return value
    },
    answered<R>(answer: R): R {
      end(answer as Answer)
      return answer
    },
    failed: (failure: ServingError) => end({ error: failure }),
    messages(name: string, messages: AsyncIterable<unknown>): AsyncIterable<unknown> {
      const hash = createHash('sha256')
      let [count, length] = [0n, 0n]
      counts.push(() => {
        if (cells.isRedacted(name)) return
        cells.scalar(`${name}.messages`, count)
        cells.scalar(`${name}.length`, length)
        // A hash may tell what a message has.
        if (!cells.isRedacted(name, true)) cells.scalar(`${name}.sha256`, hash.digest('hex'))
      })
      const see = (message: unknown) => {
        count++
        const bytes = messageBytes(message)
        length += BigInt(bytes.length)
        hash.update(bytes)
      }
      async function* seen() {
        try {
          for await (const message of messages) {
            attempt(() => see(message))
            yield message
          }
        } catch (failure) {
          error ??= functionFailureOf(failure)
          throw failure
        }
      }
      return seen()
    },
    end() {
      end({})
      attempt(() => {
        for (const add of counts) add()
        // The columns of all calls come first.
        const values = cells.list.splice(0)
        addCall()
        cells.list.push(...values)
      })
    },
  }

  const addCall = () => {
    const { stages, runs } = trace.parts
    const owner = ownerOf(ctx)
    const columns = {
      ...{ request_id: ctx.id, api, service, service_version: version },
      protocol: [ctx.job && 'job', protocol, ctx.transport].filter(Boolean).join('+'),
      // The service is part of it, so that captures of two cannot be joined.
      caller: owner && hashOf(`${service}\n${owner}`),
      status: BigInt(status ?? 0),
      error: ServingError.is(error) ? error.code : undefined,
      total_ms: ctx.elapsedMs,
      ...(runs.length > 0 && timesOf(runs, models)),
    }
    cells.scalar('time', time, 'time')
    for (const [column, value] of Object.entries(columns)) cells.scalar(column, value)
    // The others and the whole tell that of the function.
    for (const stage of stages)
      if (stage.name !== 'function') cells.scalar(`${stage.name}_ms`, lengthOf(stage))
    const params = { mimeType: 'application/json', schema: { properties: ctx.params } }
    if (Object.keys(ctx.params).length > 0) cells.add('params', ctx.params, params)
    const redacted = [...cells.redacted]
    if (redacted.length > 0) cells.items('redacted', columnOf('', 'str', redacted), redacted.length)
  }

  const source = (...picture: Parameters<Cells['source']>) =>
    attempt(() => cells.source(...picture))
  const trace = Object.assign(new RecordedTrace(ctx, history), { sample, source })
  ctx.trace = trace
  return sample
}

/** From one moment of a call of a Runner to another. */
type MomentsOf = (run: RunnerCallRecord) => readonly [number | undefined, number | undefined]

/** @returns the columns of calls of Runners, with the sums of their times. */
function timesOf(runs: readonly RunnerCallRecord[], models: SampledApi['models']) {
  const names = runs.map(({ name }) => name.slice(0, name.lastIndexOf('.')))
  const sumOf = (momentsOf: MomentsOf) => {
    const spans = runs
      .map(momentsOf)
      .flatMap(([from, to]) => (from === undefined || to === undefined ? [] : [to - from]))
    return spans.length === 0 ? undefined : spans.reduce((sum, ms) => sum + ms)
  }
  const rows = runs.find(({ job }) => job?.isBatch)?.job?.rows
  return {
    models: JSON.stringify(
      Object.fromEntries(names.map((name) => [name, models.get(name) ?? null])),
    ),
    queue_ms: sumOf(({ queuedAt, dispatchedAt }) => [queuedAt, dispatchedAt]),
    batch_ms: sumOf(({ dispatchedAt, job }) => [dispatchedAt, job?.model.from]),
    model_ms: sumOf(({ job }) => [job?.model.from, job?.model.to]),
    batch_size: rows === undefined ? rows : BigInt(rows),
  }
}

const lengthOf = ({ from, to }: CallSpan) => (to === undefined ? undefined : to - from)

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
