/**
 * Reads a form's parts through descriptors, whole or as they come.
 * @module
 */

import { BadInput, type ErrorDetails, PayloadTooLarge, ServingError, UnsupportedMediaType } from '../errors.ts'
import { type FormLimits, type FormListener, FormParser } from '../form/form-parser.ts'
import type { FormPart } from '../form/form-part.ts'
import type { Context } from '../http/context.ts'
import { bodyLoan, type RequestHeaders } from '../http/message.ts'
import { GrowableBytes } from '../memory/growable-bytes.ts'
import { isPromise, type MaybePromise } from '../promise.ts'
import type { BodyReceiver, IODescriptor } from './descriptor.ts'

/** The half of a descriptor that reads. */
export type PartDescriptor<T = unknown> = Pick<IODescriptor<T>, 'fromHttpRequest' | 'receive'>

/** What to do with a part. */
export interface PartPlan {
  /** Reads the part. */
  readonly descriptor: PartDescriptor
  /** Stands in front of the `path` of the part's errors. */
  readonly path: string
  /** Called with the part's value, at most once, maybe after later parts were planned. */
  readonly store: (value: unknown) => void
}

/** What to make of a form; one object a request. */
export interface FormPlan<T> {
  /** Called with the headers of each part, in their order. Undefined skips the part. **Errors**: BadInput. */
  plan(part: FormPart): PartPlan | undefined
  /** Returns the form's value; called after the last part was stored. **Errors**: BadInput. */
  finish(): T
}

/** A part from its headers to its end. A class: as an object that grows it took three times as long. */
class OpenPart {
  readonly headers: RequestHeaders
  readonly plan: PartPlan
  /** Bytes of the piece that is being parsed, not yet ours. */
  view: Uint8Array | undefined
  /** What was copied from earlier pieces. */
  held: GrowableBytes | undefined
  receiver: BodyReceiver | undefined
  busy: Promise<unknown> | undefined

  constructor(headers: RequestHeaders, plan: PartPlan) {
    this.headers = headers
    this.plan = plan
  }
}

/**
 * Reads a form by a plan. A part that is complete within one piece is decoded in place; a longer one goes to its
 * descriptor's receiver, or is copied together.
 */
export class FormReader<T> implements BodyReceiver<T>, FormListener {
  readonly #parser: FormParser
  readonly #plan: FormPlan<T>
  readonly #ctx: Context | undefined
  #open: OpenPart | undefined
  // Values that are still being made.
  readonly #pending: Promise<void>[] = []
  // Receivers that asked for time within this piece.
  #busy: Promise<unknown>[] = []
  #failed: { readonly error: unknown } | undefined

  constructor(boundary: string, plan: FormPlan<T>, ctx?: Context, limits?: FormLimits) {
    this.#parser = new FormParser(boundary, this, limits)
    this.#plan = plan
    this.#ctx = ctx
  }

  /** A whole form at once. The bytes may be borrowed: nothing refers to them afterwards. */
  readWhole(bytes: Uint8Array): MaybePromise<T> {
    this.#parser.write(bytes)
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

  /** @internal Of the parser. */
  partStart(part: FormPart): void {
    const plan = this.#plan.plan(part)
    this.#open = plan && new OpenPart(part.headers, plan)
  }

  /** @internal Of the parser. */
  partData(bytes: Uint8Array): void {
    const open = this.#open
    if (open === undefined) return
    if (open.receiver !== undefined) this.#give(open, open.receiver, bytes)
    else if (open.held !== undefined) open.held.append(bytes)
    else if (open.view === undefined) open.view = bytes
    else {
      // What looked like a boundary at the end of the last piece was data.
      open.held = copyOf(open.view)
      open.held.append(bytes)
    }
  }

  /** @internal Of the parser. */
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
    const request = bodyLoan.lend(open.headers, bytes, open.held === undefined)
    const value = open.plan.descriptor.fromHttpRequest(request, this.#ctx)
    if (isPromise(value)) bodyLoan.keep(request)
    else bodyLoan.release(request)
    return value
  }

  #finish(open: OpenPart, receiver: BodyReceiver): MaybePromise<unknown> {
    const end = () => {
      if (this.#failed === undefined) return receiver.end()
      receiver.abort(this.#failed.error as Error)
      throw this.#failed.error
    }
    const value = open.busy === undefined ? receiver.end() : open.busy.then(end)
    // Its last bytes may still be on their way to the disk: the next part should not come faster than that.
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

  /** Copies or hands on what the open part has of the piece that ends. */
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
    // Not Promise.all of the two: it keeps what both resolved to, a list in a list for every piece.
    const { busy: before } = open
    open.busy = before === undefined ? settled : before.then(() => settled)
  }

  #errorIn({ plan }: OpenPart, error: unknown): unknown {
    return inPart(plan.path, error)
  }
}

const noBytes = new Uint8Array(0)

/** Copies borrowed bytes, with room for more. */
function copyOf(bytes: Uint8Array): GrowableBytes {
  const copy = new GrowableBytes(Buffer.allocUnsafeSlow(bytes.length * 2))
  copy.append(bytes)
  return copy
}

/**
 * The error of a part, with the part's name in front of its path. Offsets stay counted from the part's start. Errors of
 * an application's own kind are left as they are.
 */
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
