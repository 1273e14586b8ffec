/** Runs a job: its request is answered in process, by the exchange of every request. @module */

import { StringDecoder } from 'node:string_decoder'
import { setTimeout as wait } from 'node:timers/promises'
import type { Endpoint } from '../../api/endpoint.ts'
import { deadlinePassed } from '../../api/stages.ts'
import { noParams } from '../../api/visit.ts'
import { FunctionError, InvalidArgument, ServingError } from '../../core/errors.ts'
import { deferred } from '../../core/promise.ts'
import { parseText } from '../../core/text/parse-text.ts'
import type { ServerState } from '../../engine/engine.ts'
import type { IncomingRequest } from '../../engine/incoming-request.ts'
import { Context } from '../../http/context.ts'
import { type Chunk, HeaderList, type HttpResponse, isAsyncBody } from '../../http/message.ts'
import { problemResponse } from '../../http/problem.ts'
import type { StoredResponse } from '../../jobs/job.ts'
import type { Attempt, Outcome } from '../../jobs/job-store.ts'
import { MemorySocket } from '../memory-engine.ts'

/** How often a job that was taken asks whether its service can answer again. **Units**: milliseconds. */
const readyMs = 200

/** Largest value of `ctx.job.progress`. **Units**: characters of JSON. */
const maxProgress = 64 * 1024

/** Runs one attempt. `server`: without hooks that let requests in. `isReady`: whether functions can answer now. */
export async function runJob(
  server: ServerState,
  endpoint: Endpoint,
  attempt: Attempt,
  isReady: () => boolean,
): Promise<Outcome> {
  const { signal, job, request } = attempt
  while (!isReady() && !signal.aborted) await wait(readyMs, undefined, { signal }).catch(() => {})
  const { query, body } = request
  const headers = job.trace === undefined ? request.headers : [...request.headers, ['traceparent', job.trace] as const]
  const names = new HeaderList(
    headers.map(([name]) => name),
    headers.map(([, value]) => value),
  )
  const ctx = new Context({ headers: names, query, timeoutMs: job.timeoutMs })
  Object.assign(ctx.state, parseText(attempt.state ?? '{}'))
  const target = { method: 'POST', path: endpoint.path, query, params: noParams }
  const socket = new JobSocket(
    server,
    { endpoint, target, ctx, body: { declared: body.length, encoding: '' } },
    attempt,
  )
  ctx.bind(target, job.api, {
    job: { id: job.id, attempt: attempt.number, progress: (value) => progress(attempt, value) },
  })
  const giveUp = () => socket.giveUp(signal.reason)
  signal.addEventListener('abort', giveUp)
  try {
    if (signal.aborted) giveUp()
    else socket.exchange.begin(() => socket.exchange.receive(body, true, false))
    return outcomeOf(await socket.stored)
  } catch (error) {
    if (signal.aborted && ServingError.is(signal.reason) && signal.reason.code === 'client_closed')
      return { kind: 'canceled' }
    const cause = ServingError.is(error) ? error : new FunctionError('the stream broke off', { cause: error })
    return outcomeOf(storedProblem(cause, ctx.id))
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

async function progress(attempt: Attempt, value: unknown): Promise<void> {
  const text = JSON.stringify(value)
  if (text === undefined || text.length > maxProgress)
    throw new InvalidArgument(`expected at most ${maxProgress} characters of JSON for ctx.job.progress`)
  await attempt.report('progress', text)
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

/** Collects the answer; what a generator yields is reported as it comes, and no faster than it is kept. */
class JobSocket extends MemorySocket {
  readonly #attempt: Attempt
  readonly #ended = deferred<StoredResponse>()
  /** The whole answer. **Errors**: why it does not come. */
  readonly stored = this.#ended.promise
  #decoder: StringDecoder | undefined
  #deadline: NodeJS.Timeout | undefined

  constructor(server: ServerState, request: IncomingRequest, attempt: Attempt) {
    super(server, request, [])
    this.#attempt = attempt
    this.response.then(({ status, headers, body }) => {
      const lines = [...headers].filter(([name]) => name !== 'content-length')
      this.#ended.resolve({ status, headers: lines, body })
    }, this.#ended.reject)
  }

  #late(): void {
    const reason = deadlinePassed()
    this.exchange.failed(reason)
    this.giveUp(reason)
  }

  override detach(): void {
    clearTimeout(this.#deadline)
  }

  giveUp(reason: Error): void {
    this.#ended.reject(reason)
    this.exchange.ctx.abort(reason)
    this.exchange.abort()
  }

  override sendHead(response: HttpResponse): void {
    super.sendHead(response)
    // Until here the stages of the call held the deadline.
    this.#deadline = setTimeout(() => this.#late(), Math.min(this.exchange.ctx.remainingMs, 0x7fffffff))
    const type = response.headers.find(([name]) => name === 'content-type')?.[1] ?? ''
    if (isAsyncBody(response.body) && /^text\/|json/.test(type)) this.#decoder = new StringDecoder()
  }

  override sendPiece(piece: Chunk): boolean {
    super.sendPiece(piece)
    if (this.#decoder === undefined) return true
    const text = typeof piece === 'string' ? piece : this.#decoder.write(piece as Buffer)
    const drained = () => this.exchange.drained()
    this.#attempt.report('partial', text).then(drained, drained)
    return false
  }
}
