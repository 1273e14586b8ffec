/**
 * The side of a Runner that has the model: loads the module, makes the calls.
 * @module
 */

import { ClientClosed, FunctionError, InvalidArgument, ServingError, show } from '../errors.ts'
import { readTypeScript } from '../modules/typescript.ts'
import { isPromise } from '../promise.ts'
import { type PackedList, packList, unpackList } from './lists.ts'
import type {
  CancelMessage,
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
import { claim, pack, unpack } from './transfer.ts'
import type { Channel } from './worker.ts'

/** What a method may know of its call. */
export interface ModelCall {
  /** Aborted when no caller wants the result any more. A method that blocks its thread cannot hear of it. */
  readonly signal: AbortSignal
  /** When the last caller gives up; undefined without a deadline. **Units**: milliseconds since the epoch. */
  readonly deadlineMs: number | undefined
}

/** Sends a reply; `transfer` are the buffers to move with it. */
export interface HostReply {
  readonly reply: unknown
  readonly transfer: readonly ArrayBuffer[]
}

type Method = (input: unknown, call: ModelCall) => unknown

/** One model in one thread or process, behind messages. */
export class ModelHost {
  readonly #moves: boolean
  readonly #methods = new Map<string, Method>()
  readonly #running = new Map<number, Call>()
  #runner = ''

  /** `moves`: whether buffers of results can be moved; else they are copied when they are sent. */
  constructor(moves: boolean) {
    this.#moves = moves
  }

  /** A message becomes its reply; never rejects. */
  async handle(message: unknown, channel: Channel | undefined): Promise<HostReply> {
    const given = message as ModelMessage
    switch (given.kind) {
      case 'load':
        return { reply: await this.#load(given), transfer: [] }
      case 'run':
        return await this.#run(given)
      case 'stream':
        await this.#stream(given, channel as Channel)
        return { reply: undefined, transfer: [] }
      case 'cancel':
        return this.#cancel(given)
    }
  }

  async #load(message: LoadMessage): Promise<LoadReply> {
    try {
      this.#runner = message.runner
      const model = await loadModel(message)
      for (const name of message.methods) {
        const method = (model as Record<string, unknown>)[name]
        if (typeof method !== 'function') {
          throw new InvalidArgument(
            `expected a method ${name} of what ${message.module} loads, received ${show(method)}`,
          )
        }
        this.#methods.set(name, method.bind(model))
      }
      for (const [name, input] of message.warmup) await this.#warm(name, unpack(input))
      return {}
    } catch (error) {
      return { failure: errorFields(error) }
    }
  }

  async #warm(name: string, input: unknown): Promise<void> {
    const result = await this.#method(name)(input, new Call(undefined))
    const iterator = iteratorOf(result)
    if (iterator === undefined) return
    await iterator.next()
    await iterator.return?.()
  }

  #method(name: string): Method {
    return this.#methods.get(name) as Method
  }

  async #run(message: RunMessage): Promise<HostReply> {
    const call = new Call(message.deadlineMs)
    this.#running.set(message.id, call)
    const start = performance.now()
    const inputs = unpackList(message.inputs)
    const results: unknown[] = []
    const failed: number[] = []
    for (const [i, input] of inputs.entries()) {
      try {
        const result = this.#method(message.method)(input, call)
        // No wait for what is there already: the calls of a message are short.
        results[i] = isPromise(result) ? await result : result
      } catch (error) {
        results[i] = this.#failure(error, message.method)
        failed.push(i)
      }
    }
    const ms = performance.now() - start
    this.#running.delete(message.id)
    const transfer: ArrayBuffer[] = []
    const packed = this.#packResults(results, failed, message.method, transfer)
    const reply: RunReply = { results: packed, failed, ms }
    return { reply, transfer }
  }

  #packResults(results: unknown[], failed: number[], method: string, transfer: ArrayBuffer[]): PackedList {
    try {
      return this.#pack(results, transfer, packList)
    } catch {
      // Some result cannot be sent; the others can.
      transfer.length = 0
      for (const [i, result] of results.entries()) {
        try {
          pack(result)
        } catch (error) {
          results[i] = this.#failure(error, method)
          if (!failed.includes(i)) failed.push(i)
        }
      }
      return this.#pack(results, transfer, packList)
    }
  }

  #pack<V, P>(value: V, transfer: ArrayBuffer[], pack: (value: V, transfer?: ArrayBuffer[]) => P): P {
    if (!this.#moves) return pack(value)
    // The model may keep what it returned: reading it later should say where it went.
    const packed = pack(claim(value, `the caller of ${this.#runner}`) as V, transfer)
    if (transfer.length === 0) return packed
    try {
      // Moved within the thread first: memory that cannot be moved, as WebAssembly's, is refused here and copied instead. To
      // hear of it only when the reply is posted would end the thread.
      const own = structuredClone({ packed, buffers: transfer }, { transfer })
      transfer.splice(0, transfer.length, ...own.buffers)
      return own.packed
    } catch {
      transfer.length = 0
      return pack(value)
    }
  }

  #failure(error: unknown, method: string): Error {
    if (ServingError.is(error)) return error
    const cause = error instanceof Error ? error : new Error(`a value that is no Error: ${show(error)}`)
    return new FunctionError(`the method ${method} of the runner ${this.#runner} failed: ${cause.message}`, { cause })
  }

  async #stream(message: StreamMessage, channel: Channel): Promise<void> {
    const call = new Call(message.deadlineMs)
    const tell = (up: StreamUp, transfer: ArrayBuffer[] = []) => channel.post(up, transfer)
    let credits = 0
    let more = () => {}
    let iterator: AsyncIterator<unknown> | Iterator<unknown> | undefined
    channel.listen((down) => {
      const wish = down as StreamDown
      if (wish.kind === 'credit') credits += wish.count
      else call.abort()
      more()
    })
    try {
      const [input] = unpack(message.inputs) as unknown[]
      iterator = iteratorOf(await this.#method(message.method)(input, call))
      if (iterator === undefined)
        throw new InvalidArgument(`expected the method ${message.method} to return a generator`)
      for (;;) {
        while (credits === 0 && !call.aborted) await new Promise<void>((resolve) => (more = resolve))
        if (call.aborted) break
        const next = await iterator.next()
        if (next.done === true || call.aborted) break
        credits--
        const transfer: ArrayBuffer[] = []
        tell({ kind: 'item', item: this.#pack(next.value, transfer, pack) }, transfer)
      }
      tell({ kind: 'end' })
    } catch (error) {
      tell({ kind: 'failure', error: errorFields(this.#failure(error, message.method)) })
    } finally {
      if (call.aborted) await Promise.resolve(iterator?.return?.(undefined)).catch(() => {})
      channel.close()
    }
  }

  #cancel({ id }: CancelMessage): HostReply {
    this.#running.get(id)?.abort()
    return { reply: undefined, transfer: [] }
  }
}

class Call implements ModelCall {
  readonly deadlineMs: number | undefined
  aborted = false
  #controller: AbortController | undefined

  constructor(deadlineMs: number | undefined) {
    this.deadlineMs = deadlineMs
  }

  // Made on demand: most methods do not look.
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(new ClientClosed('no caller wants the result any more'))
    }
    return this.#controller.signal
  }

  abort(): void {
    this.aborted = true
    this.#controller?.abort(new ClientClosed('no caller wants the result any more'))
  }
}

async function loadModel({ module, init }: LoadMessage): Promise<object> {
  // While our own sources run as they are, in tests, whoever runs them reads TypeScript.
  if (/\.m?ts$/.test(module) && !import.meta.url.endsWith('.ts')) await readTypeScript()
  const exported: { readonly default?: unknown; readonly load?: unknown } = await import(module)
  const load = exported.load ?? exported.default
  if (typeof load !== 'function') {
    throw new InvalidArgument(
      `expected a function load, or one as default, exported by ${module}, received ${show(load)}`,
    )
  }
  const model: unknown = await load(unpack(init))
  if (typeof model !== 'object' || model === null) {
    throw new InvalidArgument(
      `expected an object of methods from the function that ${module} exports, received ${show(model)}`,
    )
  }
  return model
}

function iteratorOf(value: unknown): AsyncIterator<unknown> | Iterator<unknown> | undefined {
  const iterable = value as Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined
  if (typeof iterable !== 'object' || iterable === null) return undefined
  return iterable[Symbol.asyncIterator]?.() ?? iterable[Symbol.iterator]?.()
}
