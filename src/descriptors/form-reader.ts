/** Decodes a form's parts by descriptors, from a whole body or as it arrives. @module */

import {
  BadInput,
  type ErrorDetails,
  PayloadTooLarge,
  ServingError,
  UnsupportedMediaType,
} from '../core/errors.ts'
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
  /**
   * Called with each part's headers, in order; `isEmpty`: it has no bytes. Not called for a file
   * that was not chosen. Returns undefined to skip the part.
   *
   * @throws BadInput.
   */
  plan(part: FormPart, isEmpty: boolean): PartPlan | undefined
  /**
   * Called after the last part was stored.
   *
   * @throws BadInput.
   */
  finish(): T
}

interface OpenPart {
  readonly headers: RequestHeaders
  readonly plan: PartPlan
  /** Bytes of the current piece: borrowed. */
  view?: Uint8Array | undefined
  /** Bytes copied from earlier pieces. */
  held?: GrowableBytes | undefined
  receiver?: BodyReceiver | undefined
  busy?: Promise<unknown>
}

/**
 * Reads a form by a plan. A part within one piece is decoded in place; a longer one goes to its receiver or is joined.
 */
export class FormReader<T> implements BodyReceiver<T>, FormListener {
  readonly #parser: FormParser
  readonly #plan: FormPlan<T>
  readonly #ctx: Context | undefined
  /** A part of which no bytes have come. */
  #started: FormPart | undefined
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
    this.#checkFailed()
    if (this.#busy.length === 0) return undefined
    const busy = Promise.all(this.#busy)
    this.#busy = []
    return busy.then(() => this.#checkFailed())
  }

  end(): MaybePromise<T> {
    this.#parser.end()
    if (this.#pending.length === 0) return this.#result()
    return Promise.all(this.#pending).then(() => this.#result())
  }

  #result(): T {
    this.#checkFailed()
    return this.#plan.finish()
  }

  #checkFailed(): void {
    if (this.#failed !== undefined) throw this.#failed.error
  }

  abort(reason: Error): void {
    const open = this.#open
    this.#open = undefined
    open?.receiver?.abort(reason)
  }

  /** @internal */
  partStart(part: FormPart): void {
    this.#started = part
  }

  #openPart(part: FormPart, isEmpty: boolean): void {
    this.#started = undefined
    const plan = this.#plan.plan(part, isEmpty)
    this.#open = plan && { headers: part, plan }
  }

  /** @internal */
  partData(bytes: Uint8Array): void {
    if (this.#started !== undefined) this.#openPart(this.#started, false)
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
    const empty = this.#started
    this.#started = undefined
    // Browsers send an empty name and no bytes for a field in which no file was chosen (HTML, "form data set").
    if (empty !== undefined && empty.filename !== '') this.#openPart(empty, true)
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    inPartOf(open, () => {
      const value =
        open.receiver === undefined ? this.#decode(open) : this.#finish(open, open.receiver)
      if (isPromise(value))
        this.#pending.push(this.#settled(open, Promise.resolve(value).then(open.plan.store)))
      else open.plan.store(value)
    })
  }

  #decode(open: OpenPart): MaybePromise<unknown> {
    const bytes = open.held?.bytes ?? open.view ?? noBytes
    const request = HttpRequest.lend(open.headers, bytes, open.held === undefined)
    return request.releaseAfter(open.plan.descriptor.fromHttpRequest(request, this.#ctx))
  }

  #finish(open: OpenPart, receiver: BodyReceiver): MaybePromise<unknown> {
    const end = () => {
      if (this.#failed === undefined) return receiver.end()
      receiver.abort(this.#failed.error as Error)
      throw this.#failed.error
    }
    const value = open.busy?.then(end) ?? receiver.end()
    // Its last bytes may still be on their way to disk: the next part waits for them.
    if (isPromise(value)) this.#busy.push(Promise.resolve(value).catch(() => {}))
    return value
  }

  /** Keeps the error of a promise. */
  #settled({ plan }: OpenPart, promise: PromiseLike<void>): Promise<void> {
    return Promise.resolve(promise).catch((error: unknown) => {
      this.#failed ??= { error: inPart(plan.path, error) }
    })
  }

  /** Copies or passes on the open part's bytes at the end of a piece. */
  #hold(open: OpenPart): void {
    const { view } = open
    if (open.receiver !== undefined) return
    open.receiver = inPartOf(
      open,
      () => this.#ctx && open.plan.descriptor.receive?.(open.headers, this.#ctx),
    )
    if (open.receiver !== undefined) {
      const bytes = open.held?.bytes ?? view
      if (bytes !== undefined) this.#give(open, open.receiver, bytes)
      open.held = undefined
    } else if (view !== undefined) open.held ??= copyOf(view)
    open.view = undefined
  }

  #give(open: OpenPart, receiver: BodyReceiver, bytes: Uint8Array): void {
    const busy = inPartOf(open, () => receiver.write(bytes))
    if (!isPromise(busy)) return
    const settled = this.#settled(open, busy)
    this.#busy.push(settled)
    // Promise.all of the two would nest one list deeper for every piece.
    const { busy: before } = open
    open.busy = before?.then(() => settled) ?? settled
  }
}

const noBytes = new Uint8Array(0)

/** Calls `work`, whose errors get the part's name. */
function inPartOf<T>({ plan }: OpenPart, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw inPart(plan.path, error)
  }
}

function copyOf(bytes: Uint8Array): GrowableBytes {
  const copy = new GrowableBytes(Buffer.allocUnsafeSlow(bytes.length * 2))
  copy.append(bytes)
  return copy
}

/** Prepends the part's name to an error's path; offsets count from the part's start. Returns other errors unchanged. */
export function inPart(name: string, error: unknown): unknown {
  if (!ServingError.is(error) || name === '') return error
  const pathOf = (path = '') =>
    path === '' || path.startsWith('[') ? name + path : `${name}.${path}`
  const details: ErrorDetails = {
    reason: error.reason,
    path: pathOf(error.path),
    offset: error.offset,
    issues: error.issues?.map(({ path, message }) => ({ path: pathOf(path), message })),
    cause: error,
  }
  const Kind = {
    bad_input: BadInput,
    unsupported_media_type: UnsupportedMediaType,
    payload_too_large: PayloadTooLarge,
  }[error.code]
  if (Kind === undefined) return error
  return new Kind(`part ${JSON.stringify(name)}: ${error.message}`, details)
}
