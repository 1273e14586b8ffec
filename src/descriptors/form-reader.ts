/** Decodes a form's parts by descriptors, from a whole body or as it arrives. @module */

import { BadInput, type ErrorDetails, PayloadTooLarge, ServingError, UnsupportedMediaType } from '../core/errors.ts'
import { GrowableBytes } from '../core/memory/growable-bytes.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { type FormLimits, type FormListener, FormParser } from '../http/form/form-parser.ts'
import type { FormPart } from '../http/form/form-part.ts'
import { HttpRequest, type RequestHeaders } from '../http/message.ts'
import type { BodyReceiver, IODescriptor } from './descriptor.ts'

/** The methods of a descriptor that read. */
export type PartDescriptor<T = unknown> = Pick<IODescriptor<T>, 'fromHttpRequest' | 'receive'>

/** How to read a part. */
export interface PartPlan {
  readonly descriptor: PartDescriptor
  /** Prefix for the `path` of the part's errors. */
  readonly path: string
  /** Called at most once, possibly after later parts were planned. */
  readonly store: (value: unknown) => void
}

/** How to read a form; one object per request. */
export interface FormPlan<T> {
  /** Called with each part's headers, in order. Returns undefined to skip the part. **Errors**: BadInput. */
  plan(part: FormPart): PartPlan | undefined
  /** Called after the last part was stored. **Errors**: BadInput. */
  finish(): T
}

class OpenPart {
  readonly headers: RequestHeaders
  readonly plan: PartPlan
  /** Bytes of the current piece: borrowed. */
  view: Uint8Array | undefined
  /** Bytes copied from earlier pieces. */
  held: GrowableBytes | undefined
  receiver: BodyReceiver | undefined
  busy: Promise<unknown> | undefined

  constructor(headers: RequestHeaders, plan: PartPlan) {
    this.headers = headers
    this.plan = plan
  }
}

/**
 * Reads a form by a plan. A part within one piece is decoded in place; a longer one goes to its receiver or is joined.
 */
export class FormReader<T> implements BodyReceiver<T>, FormListener {
  readonly #parser: FormParser
  readonly #plan: FormPlan<T>
  readonly #ctx: Context | undefined
  #open: OpenPart | undefined
  readonly #pending: Promise<void>[] = []
  // Promises of receivers that asked to pause during this piece.
  #busy: Promise<unknown>[] = []
  #failed: { readonly error: unknown } | undefined

  constructor(boundary: string, plan: FormPlan<T>, ctx?: Context, limits?: FormLimits) {
    this.#parser = new FormParser(boundary, this, limits)
    this.#plan = plan
    this.#ctx = ctx
  }

  readWhole(request: HttpRequest): MaybePromise<T> {
    this.#parser.write(request.peek())
    return this.end()
  }

  write(piece: Uint8Array): void | Promise<void> {
    this.#parser.write(piece)
    if (this.#open !== undefined) this.#hold(this.#open)
    if (this.#failed !== undefined) throw this.#failed.error
    if (this.#busy.length === 0) return undefined
    const busy = Promise.all(this.#busy)
    this.#busy = []
    return busy.then(() => {
      if (this.#failed !== undefined) throw this.#failed.error
    })
  }

  end(): MaybePromise<T> {
    this.#parser.end()
    if (this.#failed !== undefined) throw this.#failed.error
    if (this.#pending.length === 0) return this.#plan.finish()
    return Promise.all(this.#pending).then(() => {
      if (this.#failed !== undefined) throw this.#failed.error
      return this.#plan.finish()
    })
  }

  abort(reason: Error): void {
    const open = this.#open
    this.#open = undefined
    open?.receiver?.abort(reason)
  }

  /** @internal */
  partStart(part: FormPart): void {
    const plan = this.#plan.plan(part)
    this.#open = plan && new OpenPart(part.headers, plan)
  }

  /** @internal */
  partData(bytes: Uint8Array): void {
    const open = this.#open
    if (open === undefined) return
    if (open.receiver !== undefined) this.#give(open, open.receiver, bytes)
    else if (open.held !== undefined) open.held.append(bytes)
    else if (open.view === undefined) open.view = bytes
    else {
      // The last bytes of the previous piece looked like a boundary, but were data.
      open.held = copyOf(open.view)
      open.held.append(bytes)
    }
  }

  /** @internal */
  partEnd(): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    try {
      const value = open.receiver === undefined ? this.#decode(open) : this.#finish(open, open.receiver)
      if (isPromise(value)) this.#later(open, value)
      else open.plan.store(value)
    } catch (error) {
      throw this.#errorIn(open, error)
    }
  }

  #decode(open: OpenPart): MaybePromise<unknown> {
    const bytes = open.held?.bytes ?? open.view ?? noBytes
    const request = HttpRequest.lend(open.headers, bytes, open.held === undefined)
    const value = open.plan.descriptor.fromHttpRequest(request, this.#ctx)
    if (isPromise(value)) request.retain()
    else request.release()
    return value
  }

  #finish(open: OpenPart, receiver: BodyReceiver): MaybePromise<unknown> {
    const end = () => {
      if (this.#failed === undefined) return receiver.end()
      receiver.abort(this.#failed.error as Error)
      throw this.#failed.error
    }
    const value = open.busy === undefined ? receiver.end() : open.busy.then(end)
    // Its last bytes may still be on their way to disk: the next part waits for them.
    if (isPromise(value)) this.#busy.push(Promise.resolve(value).catch(() => {}))
    return value
  }

  #later(open: OpenPart, value: PromiseLike<unknown>): void {
    const stored = Promise.resolve(value)
      .then(open.plan.store)
      .catch((error: unknown) => {
        this.#failed ??= { error: this.#errorIn(open, error) }
      })
    this.#pending.push(stored)
  }

  /** Copies or passes on the open part's bytes at the end of a piece. */
  #hold(open: OpenPart): void {
    const { view } = open
    if (open.receiver !== undefined) return
    const { descriptor } = open.plan
    if (descriptor.receive !== undefined && this.#ctx !== undefined) {
      try {
        open.receiver = descriptor.receive(open.headers, this.#ctx)
      } catch (error) {
        throw this.#errorIn(open, error)
      }
      const bytes = open.held?.bytes ?? view
      if (bytes !== undefined) this.#give(open, open.receiver, bytes)
      open.held = undefined
    } else if (view !== undefined) open.held ??= copyOf(view)
    open.view = undefined
  }

  #give(open: OpenPart, receiver: BodyReceiver, bytes: Uint8Array): void {
    let busy: void | Promise<void>
    try {
      busy = receiver.write(bytes)
    } catch (error) {
      throw this.#errorIn(open, error)
    }
    if (!isPromise(busy)) return
    const settled = Promise.resolve(busy).then(undefined, (error: unknown) => {
      this.#failed ??= { error: this.#errorIn(open, error) }
    })
    this.#busy.push(settled)
    // Promise.all of the two would nest one list deeper for every piece.
    const { busy: before } = open
    open.busy = before === undefined ? settled : before.then(() => settled)
  }

  #errorIn({ plan }: OpenPart, error: unknown): unknown {
    return inPart(plan.path, error)
  }
}

const noBytes = new Uint8Array(0)

function copyOf(bytes: Uint8Array): GrowableBytes {
  const copy = new GrowableBytes(Buffer.allocUnsafeSlow(bytes.length * 2))
  copy.append(bytes)
  return copy
}

/** Prepends the part's name to an error's path; offsets count from the part's start. Returns other errors unchanged. */
export function inPart(name: string, error: unknown): unknown {
  if (!ServingError.is(error) || name === '') return error
  const pathOf = (path = '') => (path === '' || path.startsWith('[') ? name + path : `${name}.${path}`)
  const details: ErrorDetails = {
    reason: error.reason,
    path: pathOf(error.path),
    offset: error.offset,
    issues: error.issues?.map(({ path, message }) => ({ path: pathOf(path), message })),
    cause: error,
  }
  const message = `part ${JSON.stringify(name)}: ${error.message}`
  if (error.code === 'bad_input') return new BadInput(message, details)
  if (error.code === 'unsupported_media_type') return new UnsupportedMediaType(message, details)
  if (error.code === 'payload_too_large') return new PayloadTooLarge(message, details)
  return error
}
