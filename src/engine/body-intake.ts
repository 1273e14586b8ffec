/** The body of a request that does not come in one piece, or that comes before the hooks have ended. @module */

import { decodeFailureOf } from '../api/stages.ts'
import { ClientClosed, type ServingError } from '../core/errors.ts'
import type { Context } from '../http/context.ts'
import type { Endpoint, EndpointReceiver, RequestTarget } from '../http/endpoint.ts'
import type { HttpResponse } from '../http/message.ts'
import { noMemory, type Reservation, tooLarge, tooMany } from './admission.ts'
import { BodyBuffer, encodingOf } from './body.ts'
import { BodyRest } from './body-rest.ts'
import { countedBytes } from './memory-budget.ts'
import type { Limits } from './options.ts'
import { Upload } from './upload.ts'

// More than this pauses the socket: a paused one does not notice that its client leaves. **Units**: bytes.
const heldBytes = 64 * 1024

/** What an intake needs of its exchange. */
export interface BodyOwner {
  readonly declared: number | undefined
  readonly limits: Limits
  readonly endpoint: Endpoint
  readonly ctx: Context
  readonly target: RequestTarget
  readonly reservation: Reservation | undefined
  /** The answer may come before the body is complete. */
  answer(response: Promise<HttpResponse>, isCorked: boolean): void
  pause(): void
  resume(): void
  refuse(error: ServingError): void
  run(body: Uint8Array): void
  runReceived(receiver: EndpointReceiver, isCorked: boolean): void
  fault(error: unknown): void
}

/** Joins the pieces of a body, or passes them to the endpoint's receiver as they come. */
export class BodyIntake {
  readonly #owner: BodyOwner
  #body: BodyBuffer | undefined
  #upload: Upload | undefined
  // Copies of pieces that a paused socket still delivered.
  #held: { readonly bytes: Uint8Array; readonly last: boolean }[] | undefined
  #heldBytes = 0
  #isPaused = false
  #rest: BodyRest | undefined

  constructor(owner: BodyOwner) {
    this.#owner = owner
  }

  hold(): void {
    this.#held = []
  }

  start(): void {
    if (this.#upload === undefined && this.#body === undefined) this.#openUpload()
  }

  release(): readonly { readonly bytes: Uint8Array; readonly last: boolean }[] {
    const held = this.#held ?? []
    this.#held = undefined
    if (this.#isPaused) this.#owner.resume()
    return held
  }

  #pause(): void {
    if (!this.#isPaused) this.#owner.pause()
    this.#isPaused = true
  }

  /** The socket may reuse the piece afterwards. */
  take(piece: Uint8Array, last: boolean): void {
    const owner = this.#owner
    if (this.#rest !== undefined) {
      this.#rest.drop(piece.length, last)
      return
    }
    if (this.#held !== undefined) {
      this.#held.push({ bytes: new Uint8Array(piece), last })
      this.#heldBytes += piece.length
      if (this.#heldBytes > owner.limits.maxBodyBytes) owner.refuse(tooLarge(owner.limits))
      else if (this.#reserve(this.#heldBytes) && this.#heldBytes > heldBytes) this.#pause()
      return
    }
    if (this.#upload === undefined && this.#body === undefined && !this.#openUpload()) return
    if (this.#upload !== undefined) {
      this.#upload.take(piece, last)
      return
    }
    if (this.#body === undefined) {
      if (!this.#reserve(owner.declared ?? 0)) return
      this.#body = new BodyBuffer(owner.declared, owner.limits.maxBodyBytes, alignedAt(owner))
    }
    if (!this.#body.append(piece)) {
      owner.refuse(tooLarge(owner.limits))
      return
    }
    if (owner.declared === undefined && !this.#reserve(this.#body.capacity)) return
    if (!last) return
    const bytes = this.#body.take()
    this.#body = undefined
    owner.run(bytes)
  }

  drop(end: (() => void) | undefined): void {
    this.#upload?.abort(() => new ClientClosed('the answer was complete before the body'))
    if (end !== undefined) this.#rest = new BodyRest(end)
  }

  /** `reason` is a function: most requests need no error. */
  abort(reason: () => Error): void {
    this.#body?.drop()
    this.#body = undefined
    this.#held = undefined
    this.#rest?.stop()
    this.#upload?.abort(reason)
  }

  #reserve(bytes: number): boolean {
    if (bytes < countedBytes || (this.#owner.reservation?.reserveUpTo(bytes) ?? true)) return true
    this.#owner.refuse(noMemory())
    return false
  }

  #openUpload(): boolean {
    const owner = this.#owner
    try {
      const receiver = receiverOf(owner)
      if (receiver === undefined) return true
      this.#upload = new Upload(receiver, owner.limits.maxBodyBytes, {
        pause: () => owner.pause(),
        resume: () => owner.resume(),
        reserve: (bytes) => this.#reserve(bytes),
        refuse: (error) => owner.refuse(error),
        run: (isCorked) => owner.runReceived(receiver, isCorked),
        fault: (error) => owner.fault(error),
      })
      const answer = receiver.answer?.()
      if (answer !== undefined) owner.answer(answer, false)
      return true
    } catch (error) {
      owner.refuse(decodeFailureOf(error))
      return false
    }
  }
}

function alignedAt({ endpoint, ctx }: BodyOwner): number | undefined {
  return encodingOf(endpoint, ctx) === undefined ? endpoint.alignedAt?.(ctx.headers) : undefined
}

function receiverOf({ endpoint, ctx, target, declared, reservation }: BodyOwner): EndpointReceiver | undefined {
  if (encodingOf(endpoint, ctx) !== undefined) return undefined
  const receiver = endpoint.receive?.(declared, ctx, target)
  const full = receiver && reservation?.takeSlot()
  if (full === undefined) return receiver
  const error = tooMany(full)
  receiver?.abort(error)
  throw error
}
