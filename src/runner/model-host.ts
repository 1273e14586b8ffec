/** The side of a Runner that has the model: loads the module and makes the calls. @module */

import { ClientClosed, FunctionError, InvalidArgument, ServingError, show } from '../core/errors.ts'
import { readTypeScript } from '../core/modules/typescript.ts'
import { checkThat } from '../core/options.ts'
import { isPromise } from '../core/promise.ts'
import { Waiter } from '../core/waiter.ts'
import { packList, unpackList } from './lists.ts'
import type {
  LoadMessage,
  LoadReply,
  ModelMessage,
  RunMessage,
  RunReply,
  StreamDown,
  StreamMessage,
  StreamUp,
} from './model-messages.ts'
import { errorFields } from './remote-error.ts'
import { ModelInputs } from './stream-inputs.ts'
import { type Boundary, pack, unpack } from './transfer.ts'
import type { Channel, Transfer } from './worker.ts'

/** The second argument of a method. */
export interface ModelCall {
  /** Aborted if no caller wants the result any more. A method that blocks its thread is never told. */
  readonly signal: AbortSignal
  /** The latest deadline of the callers, if all have one. **Units**: milliseconds since the epoch. */
  readonly deadlineMs: number | undefined
  /** The callers' W3C trace context, for calls of other services. Undefined if no caller is traced. */
  readonly traceparent: string | undefined
}

/** The second argument of `load`: where the model is loaded. */
export interface ModelPlace {
  /** Number of the thread or process in its Runner, from 0. A replacement has that of the ended one. */
  readonly index: number
  /** Its device of `deviceIds`; in a process, which sees no other device, 0. Undefined without `deviceIds`. */
  readonly device: number | undefined
}

type Method = (input: unknown, call: ModelCall) => unknown

/** One model in one thread or process, behind messages. */
export class ModelHost {
  readonly #boundary: Boundary
  readonly #methods = new Map<string, Method>()
  readonly #running = new Map<number, Call>()
  #runner = ''
  #model: LoadedModule | undefined

  constructor(boundary: Boundary) {
    this.#boundary = boundary
  }

  /**
   * Never rejects.
   *
   * @returns the reply, and adds the buffers to move with it to `transfer`.
   */
  async handle(
    received: unknown,
    channel: Channel | undefined,
    transfer: Transfer[] = [],
  ): Promise<unknown> {
    const message = received as ModelMessage
    switch (message.kind) {
      case 'load':
        return await this.#load(message)
      case 'run':
        return await this.#run(message, transfer)
      case 'stream':
        return await this.#stream(message, channel as Channel)
      case 'release':
        return await this.#release()
      case 'cancel':
        return this.#running.get(message.id)?.abort()
    }
  }

  async #load(message: LoadMessage): Promise<LoadReply> {
    try {
      this.#runner = message.runner
      this.#model = await loadModel(message)
      const { model } = this.#model
      for (const name of message.methods) {
        const method = (model as Record<string, unknown>)[name]
        const place = `what ${message.module} loads`
        checkThat(typeof method === 'function', `a method ${name}`, place, method)
        if (method.length > 2) {
          const what = `a method ${name} that takes one argument and the ModelCall of ${place}`
          throw new InvalidArgument(`expected ${what}, received one of ${method.length}`)
        }
        this.#methods.set(name, method.bind(model))
      }
      for (const [name, input] of message.warmup) await this.#warm(name, unpack(input))
      return {}
    } catch (error) {
      return { failure: errorFields(error) }
    }
  }

  async #release(): Promise<boolean> {
    const { model, release } = this.#model ?? {}
    this.#model = undefined
    this.#methods.clear()
    try {
      if (release === undefined || this.#running.size > 0) return false
      await release(model)
      return true
    } catch {
      return false
    }
  }

  async #warm(name: string, input: unknown): Promise<void> {
    const result = await this.#method(name)(input, new Call(undefined, undefined))
    const iterator = iteratorOf(result)
    if (iterator === undefined) return
    await iterator.next()
    await iterator.return?.()
  }

  #method(name: string): Method {
    return this.#methods.get(name) as Method
  }

  async #run(message: RunMessage, transfer: Transfer[]): Promise<RunReply> {
    const { id, method, deadlineMs } = message
    const call = new Call(deadlineMs, message.traceparent)
    this.#running.set(id, call)
    const within =
      message.traceparent === undefined ? atOnce : await traceContext(message.traceparent)
    const start = performance.now()
    const results: unknown[] = []
    const failed: number[] = []
    const fail = (error: unknown, i: number) => {
      results[i] = this.#failure(error, method)
      failed.push(i)
    }
    const inputs = unpackList(message.inputs, fail)
    const run = this.#method(method)
    for (let i = 0; i < inputs.length; i++) {
      if (failed.includes(i)) continue
      try {
        const result = within(() => run(inputs[i], call))
        results[i] = isPromise(result) ? await result : result
      } catch (error) {
        fail(error, i)
      }
    }
    const ms = performance.now() - start
    this.#running.delete(id)
    const packed = packList(results, this.#boundary, transfer, (error, i) => {
      if (!failed.includes(i)) failed.push(i)
      return pack(this.#failure(error, method), this.#boundary)
    })
    return { results: packed, failed, ms }
  }

  #failure(error: unknown, method: string): Error {
    if (ServingError.is(error)) return error
    const cause =
      error instanceof Error ? error : new Error(`a value that is no Error: ${show(error)}`)
    return new FunctionError(
      `the method ${method} of the runner ${this.#runner} failed: ${cause.message}`,
      { cause },
    )
  }

  async #stream(message: StreamMessage, channel: Channel): Promise<void> {
    const call = new Call(message.deadlineMs, message.traceparent)
    const post = (up: StreamUp, transfer: Transfer[] = []) => channel.post(up, transfer)
    let credits = 0
    const waiter = new Waiter()
    let iterator: AsyncIterator<unknown> | Iterator<unknown> | undefined
    const inputs = message.input === undefined ? new ModelInputs(channel) : undefined
    channel.listen((sent) => {
      const down = sent as StreamDown
      if (down.kind === 'credit') credits += down.count
      else if (down.kind !== 'cancel') inputs?.receive(down)
      else {
        call.abort()
        inputs?.abort()
      }
      waiter.wake()
    })
    try {
      const within =
        message.traceparent === undefined ? atOnce : await traceContext(message.traceparent)
      const input = message.input === undefined ? inputs : unpack(message.input)
      iterator = iteratorOf(await within(() => this.#method(message.method)(input, call)))
      if (iterator === undefined)
        throw new InvalidArgument(`expected the method ${message.method} to return a generator`)
      for (;;) {
        while (credits === 0 && !call.aborted) await waiter.wait()
        if (call.aborted) break
        const next = await iterator.next()
        if (next.done === true || call.aborted) break
        credits--
        const transfer: Transfer[] = []
        post({ kind: 'item', item: pack(next.value, this.#boundary, transfer) }, transfer)
      }
      post({ kind: 'end' })
    } catch (error) {
      post({ kind: 'failure', item: pack(this.#failure(error, message.method), this.#boundary) })
    } finally {
      if (call.aborted) await Promise.resolve(iterator?.return?.(undefined)).catch(() => {})
      channel.close()
    }
  }
}

class Call implements ModelCall {
  readonly deadlineMs: number | undefined
  readonly traceparent: string | undefined
  aborted = false
  #controller: AbortController | undefined

  constructor(deadlineMs: number | undefined, traceparent: string | undefined) {
    this.deadlineMs = deadlineMs
    this.traceparent = traceparent
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.aborted) this.abort()
    return this.#controller.signal
  }

  abort(): void {
    this.aborted = true
    this.#controller?.abort(new ClientClosed('no caller wants the result any more'))
  }
}

const atOnce = <T>(work: () => T): T => work()

async function traceContext(traceparent: string): Promise<<T>(work: () => T) => T> {
  const { withParent } = await import('../telemetry/tracing/otel-tracer.ts')
  return (work) => withParent(traceparent, work)
}

interface LoadedModule {
  readonly model: object
  /** Of modules that leave nothing else behind: frees the model, and another one can be loaded. */
  readonly release: ((model: unknown) => unknown) | undefined
}

async function loadModel({ module, init, index, device }: LoadMessage): Promise<LoadedModule> {
  // In tests, where the sources run uncompiled, the test runner reads TypeScript.
  if (/\.m?ts$/.test(module) && !import.meta.url.endsWith('.ts')) await readTypeScript()
  const exported: {
    readonly default?: unknown
    readonly load?: unknown
    readonly releaseModel?: LoadedModule['release']
  } = await import(module)
  const load = exported.load ?? exported.default
  checkThat(
    typeof load === 'function',
    'a function load, or one as default,',
    `the exports of ${module}`,
    load,
  )
  const model: unknown = await load(unpack(init), { index, device } satisfies ModelPlace)
  const isObject = typeof model === 'object' && model !== null
  checkThat(
    isObject,
    'an object of methods',
    `what the function that ${module} exports returns`,
    model,
  )
  return { model, release: exported.releaseModel }
}

function iteratorOf(value: unknown): AsyncIterator<unknown> | Iterator<unknown> | undefined {
  const iterable = value as Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined
  if (typeof iterable !== 'object' || iterable === null) return undefined
  return iterable[Symbol.asyncIterator]?.() ?? iterable[Symbol.iterator]?.()
}
