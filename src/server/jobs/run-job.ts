/** Runs a job: an attempt is a visit of its own, which its API has let in when the job was submitted. @module */

import { StringDecoder } from 'node:string_decoder'
import { setTimeout as wait } from 'node:timers/promises'
import type { Endpoint } from '../../api/endpoint.ts'
import { withDeadline } from '../../api/stages.ts'
import { noParams } from '../../api/visit.ts'
import { FunctionError, InternalError, InvalidArgument, ServingError } from '../../core/errors.ts'
import { countedBytes, type MemoryBudget } from '../../core/memory/memory-budget.ts'
import { isPromise, type MaybePromise } from '../../core/promise.ts'
import { parseText } from '../../core/text/parse-text.ts'
import type { ServerState } from '../../engine/engine.ts'
import { noPeer, ServedVisit } from '../../engine/served-visit.ts'
import { collectAnswer, linesOf } from '../../engine/whole-answer.ts'
import { Context } from '../../http/context.ts'
import {
  type Chunk,
  discardBody,
  HeaderList,
  HttpRequest,
  type HttpResponse,
  headerOf,
  isAsyncBody,
} from '../../http/message.ts'
import { isBodyless } from '../../http/response-head.ts'
import { maxProgress, type StoredResponse } from '../../jobs/job.ts'
import type { Attempt, Outcome } from '../../jobs/job-store.ts'
import { problemAnswer } from '../../jobs/problem-answer.ts'
import type { JobVisit, RowsEnd, RowsJob } from '../../jobs/rows.ts'
import type { Holder } from '../../jobs/stored-body.ts'
import type { ServedService } from '../served-service.ts'

/** How often a job that was taken asks whether its service can answer again. **Units**: milliseconds. */
const readyMs = 200

/**
 * Runs one attempt. `server`: as jobs see it. `service`: whose functions may not be ready to answer. `run`: runs an
 * attempt at a row.
 */
export async function runJob(
  server: ServerState,
  endpoint: Endpoint,
  attempt: Attempt,
  service: Pick<ServedService, 'unready'>,
  run: (attempt: Attempt) => Promise<Outcome>,
): Promise<Outcome> {
  const { signal, onAbort = (listener: () => void) => listenTo(signal, listener) } = attempt
  while (service.unready !== undefined && !signal.aborted)
    await wait(readyMs, undefined, { signal }).catch(() => {})
  const visit = new AttemptVisit(server, endpoint, attempt, run)
  let forget = () => {}
  try {
    // With a race, each row of a job would hold more.
    const response = await new Promise<StoredResponse>((resolve, reject) => {
      const giveUp = () => {
        visit.ctx.abort(signal.reason)
        reject(signal.reason)
      }
      forget = onAbort(giveUp)
      if (signal.aborted) giveUp()
      visit.answer().then(resolve, reject)
    })
    return outcomeOf(response)
  } catch (error) {
    if (!signal.aborted) throw error
    visit.recorder?.left()
    await visit.rowsOver
    if (ServingError.is(error) && error.code === 'client_closed') return { kind: 'canceled' }
    return outcomeOf(problemAnswer(error as ServingError, visit.ctx.id))
  } finally {
    forget()
    visit.leave()
  }
}

function listenTo(signal: AbortSignal, listener: () => void): () => void {
  signal.addEventListener('abort', listener)
  return () => signal.removeEventListener('abort', listener)
}

/** Errors of 5xx may pass, those of 4xx stay. */
function outcomeOf(response: StoredResponse): Outcome {
  if (response.status < 400) return { kind: 'completed', response }
  return { kind: 'failed', response, mayRetry: response.status >= 500 }
}

async function progress(attempt: Attempt, value: unknown): Promise<void> {
  const text = JSON.stringify(value)
  if (text === undefined || text.length > maxProgress)
    throw new InvalidArgument(
      `expected at most ${maxProgress} characters of JSON for ctx.job.progress`,
    )
  await attempt.report('progress', text)
}

function contextOf(attempt: Attempt): Context {
  const { job, request, number, state } = attempt
  const headers =
    job.trace === undefined
      ? request.headers
      : [...request.headers, ['traceparent', job.trace] as const]
  const ctx = new Context({
    headers: HeaderList.of(headers),
    query: request.query,
    timeoutMs: job.timeoutMs,
  })
  if (state !== undefined) Object.assign(ctx.state, parseText(state))
  ctx.job = { id: job.id, attempt: number, progress: (value) => progress(attempt, value) }
  return ctx
}

/** The memory of an attempt, which waits for it: no client waits for the attempt. */
class AttemptMemory implements Holder {
  readonly #budget: MemoryBudget
  readonly #ctx: Context
  #held = 0
  #isOver = false

  constructor(budget: MemoryBudget, ctx: Context) {
    this.#budget = budget
    this.#ctx = ctx
  }

  reserve(bytes: number, isSpare?: boolean): boolean {
    if (this.#isOver) return true
    if (!this.#budget.reserve(bytes, isSpare)) return false
    this.#held += bytes
    return true
  }

  /** Rejects with the reason of an attempt that ends before. */
  async hold(bytes: number): Promise<void> {
    if (!(await this.#budget.wait(bytes, this.#held, this.#ctx.signal))) throw this.#ctx.abortReason
    if (this.#isOver) this.#budget.release(bytes)
    else this.#held += bytes
  }

  get isEmpty(): boolean {
    return this.#held === 0
  }

  release(): void {
    this.#budget.release(this.#held)
    this.#held = 0
  }

  end(): void {
    this.release()
    this.#isOver = true
  }
}

/** One attempt. Nothing of a socket: its answer is collected, and what a generator yields is reported. */
class AttemptVisit extends ServedVisit implements JobVisit {
  readonly attempt: Attempt
  /** Settles once the answers of rows are kept that an aborted attempt has. */
  rowsOver: Promise<unknown> | undefined
  readonly #plain: Endpoint
  readonly #run: (attempt: Attempt) => Promise<Outcome>
  readonly #memory: AttemptMemory
  #bytesIn = 0
  #hasFailed = false
  #isOver = false

  constructor(
    server: ServerState,
    endpoint: Endpoint,
    attempt: Attempt,
    run: (attempt: Attempt) => Promise<Outcome>,
  ) {
    const ctx = contextOf(attempt)
    const target = {
      method: 'POST',
      path: endpoint.path,
      query: attempt.request.query,
      params: noParams,
    }
    super(server, { endpoint, target, ctx }, noPeer)
    this.#plain = endpoint
    this.attempt = attempt
    this.#run = run
    this.#memory = new AttemptMemory(server.memory, ctx)
  }

  override reserve(bytes: number, isSpare?: boolean): boolean {
    return this.#memory.reserve(bytes, isSpare)
  }

  /**
   * Never rejects.
   *
   * @returns the answer of the function, or the problem of its error, within the time of the
   * attempt.
   */
  answer(): Promise<StoredResponse> {
    const fail = (error: ServingError) => {
      this.failed(error)
      return problemAnswer(error, this.ctx.id)
    }
    return withDeadline(this.ctx, this.#call(), { fail })
  }

  /** The deadline has two clocks, that of the attempt and that of the stages: the first one tells. */
  override failed(error: Error): void {
    if (this.#hasFailed || this.#isOver) return
    this.#hasFailed = true
    super.failed(error)
  }

  async rows(job: RowsJob): Promise<RowsEnd> {
    const { runRows, heldBytes } = await import('../../jobs/rows.ts')
    await this.#memory.hold(heldBytes)
    const ended = runRows(job, this.attempt, this.#run, this.account())
    this.rowsOver = ended.catch(() => {})
    return ended
  }

  async #call(): Promise<StoredResponse> {
    const input = await this.#input()
    this.#bytesIn = input.length
    this.recorder?.bodyComplete()
    const given = await this.#plain.answer(new HttpRequest(this.ctx.headers, input), this)
    const response = this.checked(given)
    const { status = 200, body } = response
    this.recorder?.answered(status)
    const headers = linesOf(response, this)
    if (isBodyless(status)) {
      discardBody(response)
      return { status, headers, body: new Uint8Array(0) }
    }
    // The function has ended: nobody reads its input.
    if (!isAsyncBody(body)) this.#memory.release()
    try {
      return { status, headers, body: await this.#bytesOf(response) }
    } catch (cause) {
      const reason = this.ctx.abortReason
      if (reason !== undefined) throw reason
      this.failed(new InternalError('the stream failed', { cause }))
      return problemAnswer(new FunctionError('the stream broke off', { cause }), this.ctx.id)
    }
  }

  #input(): MaybePromise<Uint8Array> {
    const { job, request } = this.attempt
    // Rows are read as they run.
    if (job.rows !== undefined) return new Uint8Array(0)
    const bytes = request.body.bytes(this.#memory)
    if (!isPromise(bytes)) return bytes
    return bytes.catch((cause) => {
      if (ServingError.is(cause)) throw cause
      throw new InternalError('the input of the job cannot be read', { cause })
    })
  }

  /** Holds the memory of an answer, and reports what a generator of texts yields. */
  #bytesOf(response: HttpResponse): MaybePromise<Uint8Array> {
    const type = headerOf(response.headers, 'content-type') ?? ''
    const isText = /^text\/|json/.test(type)
    let decoder: StringDecoder | undefined
    let length = 0
    let held = 0
    const holdAndReport = async (chunk: Chunk, isStreamed: boolean) => {
      if (length >= countedBytes) {
        await this.#memory.hold(length - held)
        held = length
      }
      if (isStreamed && isText) {
        decoder ??= new StringDecoder()
        const text = decoder.write(Buffer.from(chunk as Uint8Array))
        if (text) await this.attempt.report('partial', text)
      }
      return !this.#isOver
    }
    return collectAnswer(response, (chunk, isStreamed) => {
      this.recorder?.sent(chunk)
      length += Buffer.byteLength(chunk)
      const isSmall = !isStreamed && length < countedBytes
      return isSmall || holdAndReport(chunk, isStreamed)
    })
  }

  /** Ends the visit. Its memory is held until the store has the outcome. */
  leave(): void {
    this.#isOver = true
    this.end(this.#bytesIn)
    const memory = this.#memory
    // Who waits would keep all of the visit.
    if (memory.isEmpty) memory.end()
    else void this.attempt.over.then(() => memory.end())
  }
}
