/** Runs a job: an attempt is a visit of its own, which its API has let in when the job was submitted. @module */

import { StringDecoder } from 'node:string_decoder'
import { setTimeout as wait } from 'node:timers/promises'
import type { Endpoint } from '../../api/endpoint.ts'
import { withDeadline } from '../../api/stages.ts'
import { noParams } from '../../api/visit.ts'
import {
  BadOutput,
  expected,
  FunctionError,
  InternalError,
  InvalidArgument,
  ServingError,
} from '../../core/errors.ts'
import { countedBytes, type MemoryBudget } from '../../core/memory/memory-budget.ts'
import { deferred } from '../../core/promise.ts'
import { parseText } from '../../core/text/parse-text.ts'
import type { ServerState } from '../../engine/engine.ts'
import { ServedRequest } from '../../engine/served-request.ts'
import { Context } from '../../http/context.ts'
import { exactly } from '../../http/encoded-pieces.ts'
import {
  type Chunk,
  discardBody,
  type HeaderLine,
  HeaderList,
  HttpRequest,
  type HttpResponse,
  isAsyncBody,
  lengthOf,
} from '../../http/message.ts'
import { problemResponse } from '../../http/problem.ts'
import { isBodyless, isFraming, responseFault } from '../../http/response-head.ts'
import type { StoredResponse } from '../../jobs/job.ts'
import type { Attempt, Outcome } from '../../jobs/job-store.ts'
import type { Holder } from '../../jobs/stored-body.ts'

/** How often a job that was taken asks whether its service can answer again. **Units**: milliseconds. */
const readyMs = 200

/** Largest value of `ctx.job.progress`. **Units**: characters of JSON. */
const maxProgress = 64 * 1024

/** Runs one attempt. `server`: as jobs see it. `isReady`: whether functions can answer now. */
export async function runJob(
  server: ServerState,
  endpoint: Endpoint,
  attempt: Attempt,
  isReady: () => boolean,
): Promise<Outcome> {
  const { signal } = attempt
  while (!isReady() && !signal.aborted) await wait(readyMs, undefined, { signal }).catch(() => {})
  const visit = new AttemptVisit(server, endpoint, attempt)
  const { promise: gaveUp, reject } = deferred<never>()
  const giveUp = () => {
    visit.ctx.abort(signal.reason)
    reject(signal.reason)
  }
  signal.addEventListener('abort', giveUp)
  try {
    if (signal.aborted) giveUp()
    return outcomeOf(await Promise.race([visit.answer(), gaveUp]))
  } catch (error) {
    if (!signal.aborted) throw error
    visit.recorder?.left()
    if (ServingError.is(error) && error.code === 'client_closed') return { kind: 'canceled' }
    return outcomeOf(storedProblem(error as ServingError, visit.ctx.id))
  } finally {
    signal.removeEventListener('abort', giveUp)
    visit.leave()
  }
}

/** Errors of 5xx may pass, those of 4xx stay. */
function outcomeOf(response: StoredResponse): Outcome {
  if (response.status < 400) return { kind: 'completed', response }
  return { kind: 'failed', response, mayRetry: response.status >= 500 }
}

function storedProblem(error: ServingError, id: string): StoredResponse {
  const { headers, body } = problemResponse(error, id)
  return { status: error.status, headers, body: Buffer.from(body as string) }
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
  const names = new HeaderList(
    headers.map(([name]) => name),
    headers.map(([, value]) => value),
  )
  const ctx = new Context({ headers: names, query: request.query, timeoutMs: job.timeoutMs })
  Object.assign(ctx.state, parseText(state ?? '{}'))
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
class AttemptVisit extends ServedRequest {
  readonly #endpoint: Endpoint
  readonly #attempt: Attempt
  readonly #memory: AttemptMemory
  #bytesIn = 0
  #hasFailed = false
  #isOver = false

  constructor(server: ServerState, endpoint: Endpoint, attempt: Attempt) {
    const ctx = contextOf(attempt)
    const target = {
      method: 'POST',
      path: endpoint.path,
      query: attempt.request.query,
      params: noParams,
    }
    super(server, { endpoint, target, ctx }, { remoteAddress: () => undefined })
    this.#endpoint = endpoint
    this.#attempt = attempt
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
      this.#failedBy(error)
      return storedProblem(error, this.ctx.id)
    }
    return withDeadline(
      this.ctx,
      this.#call().then((response) => this.#collect(response)),
      { fail },
    )
  }

  /** The deadline has two clocks, this one and that of the stages: the first one tells. */
  #failedBy(error: Error): void {
    if (this.#hasFailed || this.#isOver) return
    this.#hasFailed = true
    this.failed(error)
  }

  async #call(): Promise<HttpResponse> {
    const body = await this.#attempt.request.body.bytes(this.#memory).catch((cause) => {
      throw ServingError.is(cause)
        ? cause
        : new InternalError('the input of the job cannot be read', { cause })
    })
    this.#bytesIn = body.length
    this.recorder?.bodyComplete()
    return this.#endpoint.answer(new HttpRequest(this.ctx.headers, body), this)
  }

  async #collect(given: HttpResponse): Promise<StoredResponse> {
    const { ctx, recorder } = this
    const fault = responseFault(given)
    if (fault !== undefined) discardBody(given)
    const checked =
      fault === undefined ? given : this.#endpoint.problem(new BadOutput(fault), ctx.id)
    if (checked.error !== undefined) this.#failedBy(checked.error)
    const response = ctx.withHeaders(checked)
    const { status = 200, body } = response
    recorder?.answered(status)
    if (isBodyless(status)) {
      discardBody(response)
      return { status, headers: this.#linesOf(response), body: new Uint8Array(0) }
    }
    // The function has ended: nobody reads its input.
    if (!isAsyncBody(body)) this.#memory.release()
    try {
      return { status, headers: this.#linesOf(response), body: await this.#bytesOf(response) }
    } catch (cause) {
      const reason = ctx.abortReason
      if (reason !== undefined) throw reason
      this.#failedBy(new InternalError('the stream failed', { cause }))
      return storedProblem(new FunctionError('the stream broke off', { cause }), ctx.id)
    }
  }

  #linesOf({ headers }: HttpResponse): HeaderLine[] {
    const lines = headers
      .filter(([name]) => !isFraming(name))
      .map(([name, value]) => [name.toLowerCase(), value] as const)
    const { clientId } = this.ctx
    const isTold = clientId === undefined || lines.some(([name]) => name === 'x-request-id')
    return isTold ? lines : [...lines, ['x-request-id', clientId]]
  }

  async #bytesOf(response: HttpResponse): Promise<Uint8Array> {
    const { before = '', headers, body, pooled } = response
    const pieces: Buffer[] = before === '' ? [] : [Buffer.from(before)]
    let length = before.length
    let held = 0
    const take = async (chunk: Chunk) => {
      this.recorder?.sent(chunk)
      length += Buffer.byteLength(chunk)
      if (length >= countedBytes) {
        await this.#memory.hold(length - held)
        held = length
      }
      pieces.push(Buffer.from(chunk as Uint8Array))
      if (chunk instanceof Uint8Array) pooled?.give(chunk)
    }
    if (typeof body === 'string' || body instanceof Uint8Array) await take(body)
    else if (isAsyncBody(body)) await this.#takeStream(headers, body, take)
    else for (const chunk of body) await take(chunk)
    const [first] = pieces
    return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
  }

  /** Takes no more than is kept, and ends the source if the attempt ends. */
  async #takeStream(
    headers: readonly HeaderLine[],
    body: AsyncIterable<Chunk>,
    take: (chunk: Chunk) => Promise<void>,
  ): Promise<void> {
    const length = lengthOf(headers)
    const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
    const decoder = /^text\/|json/.test(type) ? new StringDecoder() : undefined
    for await (const chunk of length === undefined ? body : exactly(body, length)) {
      if (typeof chunk !== 'string' && !((chunk as unknown) instanceof Uint8Array))
        throw new BadOutput(expected('a string or bytes', 'a chunk of the response', chunk))
      if (this.#isOver) return
      const text =
        decoder && (typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk)))
      await take(chunk)
      if (text) await this.#attempt.report('partial', text)
    }
  }

  /** Ends the visit. Its memory is held until the store has the outcome. */
  leave(): void {
    this.#isOver = true
    this.close(this.#bytesIn)
    void this.#attempt.over.then(() => this.#memory.end())
  }
}
