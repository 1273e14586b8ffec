/**
 * The body of a request that does not come in one piece, or before it is wanted.
 * @module
 */
import type { ServingError } from '../errors.ts'
import type { EndpointReceiver } from '../http/endpoint.ts'
import { decodeFailureOf } from '../service/stages.ts'
import { tooLarge } from './admission.ts'
import { BodyBuffer } from './body.ts'
import type { Limits } from './options.ts'
import { Upload } from './upload.ts'

// More than this pauses the socket. Not sooner: a paused one does not notice that its client leaves. **Units**: bytes.
const heldBytes = 64 * 1024

/** What an intake needs of its exchange. */
export interface BodyOwner {
  /** The Content-Length; undefined for a chunked body. **Units**: bytes. */
  readonly declared: number | undefined
  readonly limits: Limits
  /** Returns the endpoint's receiver with a slot taken; undefined when the body is wanted whole. May throw. */
  receiver(): EndpointReceiver | undefined
  /** Reserves memory up to `bytes` in all; false when there is too little, and the request was refused. */
  reserve(bytes: number): boolean
  pause(): void
  resume(): void
  refuse(error: ServingError): void
  /** Called with the whole body in a buffer of the pool. */
  run(body: Uint8Array): void
  /** Called when the receiver has taken the whole body. */
  runReceived(receiver: EndpointReceiver, isCorked: boolean): void
  fault(error: unknown): void
}

/** Takes the pieces of one body: joins them, or passes them to the endpoint's receiver as they come. */
export class BodyIntake {
  readonly #owner: BodyOwner
  #body: BodyBuffer | undefined
  #upload: Upload | undefined
  // Copies of pieces that a paused socket still delivered.
  #held: { readonly bytes: Uint8Array; readonly last: boolean }[] | undefined
  #heldBytes = 0
  #isPaused = false

  constructor(owner: BodyOwner) {
    this.#owner = owner
  }

  /** Keeps what comes until `release`. */
  hold(): void {
    this.#held = []
  }

  /** Returns what was held, in order. */
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

  /** Takes a piece, which the socket may reuse when this returns. */
  take(piece: Uint8Array, last: boolean): void {
    const owner = this.#owner
    if (this.#held !== undefined) {
      this.#held.push({ bytes: new Uint8Array(piece), last })
      this.#heldBytes += piece.length
      if (this.#heldBytes > owner.limits.maxBodyBytes) owner.refuse(tooLarge(owner.limits))
      else if (owner.reserve(this.#heldBytes) && this.#heldBytes > heldBytes) this.#pause()
      return
    }
    if (this.#upload !== undefined) {
      this.#upload.take(piece, last)
      return
    }
    if (this.#body === undefined) {
      if (this.#receiveInPieces(piece, last)) return
      if (!owner.reserve(owner.declared ?? 0)) return
      this.#body = new BodyBuffer(owner.declared, owner.limits.maxBodyBytes)
    }
    if (!this.#body.append(piece)) {
      owner.refuse(tooLarge(owner.limits))
      return
    }
    // For an announced length, all memory was reserved at once.
    if (owner.declared === undefined && !owner.reserve(this.#body.capacity)) return
    if (!last) return
    const bytes = this.#body.take()
    this.#body = undefined
    owner.run(bytes)
  }

  /** Drops what has come and stops the receiver; does nothing once the body is complete. */
  abort(reason: Error): void {
    this.#body?.drop()
    this.#body = undefined
    this.#held = undefined
    this.#upload?.abort(reason)
  }

  /** Passes the body to the endpoint's receiver as it comes; returns false when the endpoint wants it whole. */
  #receiveInPieces(piece: Uint8Array, last: boolean): boolean {
    const owner = this.#owner
    try {
      const receiver = owner.receiver()
      if (receiver === undefined) return false
      this.#upload = new Upload(receiver, owner.limits.maxBodyBytes, {
        pause: () => owner.pause(),
        resume: () => owner.resume(),
        refuse: (error) => owner.refuse(error),
        run: (isCorked) => owner.runReceived(receiver, isCorked),
        fault: (error) => owner.fault(error),
      })
    } catch (error) {
      owner.refuse(decodeFailureOf(error))
      return true
    }
    this.#upload.take(piece, last)
    return true
  }
}
