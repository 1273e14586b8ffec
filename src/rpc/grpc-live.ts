/** Live streams over gRPC. @module */

import type { OpenedLive } from '../api/live-route.ts'
import type { LiveMethod } from '../api/protocol.ts'
import { decodeFailureOf } from '../api/stages.ts'
import { Overloaded, PayloadTooLarge, type ServingError } from '../core/errors.ts'
import { notReady } from '../engine/admission.ts'
import type { ServerState } from '../engine/engine.ts'
import { Context } from '../http/context.ts'
import { LiveInbox } from '../live/live-inbox.ts'
import type { OpenStream } from '../live/live-place.ts'
import type { LiveEndpoint } from '../live/live-streams.ts'
import { runLive } from '../live/run-live.ts'
import type { GrpcMethod, GrpcStream } from './grpc-stream.ts'
import { OpenCall, sendStream } from './open-call.ts'

/** @returns how the calls of a method are answered. */
export function grpcLive(server: ServerState, method: LiveMethod): GrpcMethod {
  // Its client alone sets a deadline.
  const served = { ...server, limits: { ...server.limits, requestTimeoutMs: 0 } }
  return {
    isDuplex: true,
    begin: (call) => new LiveCall(served, call, method),
  }
}

/** A stream that has its place. */
interface PlacedLive extends OpenedLive {
  readonly counts: LiveEndpoint['counts']
  readonly inbox: LiveInbox
}

/** One live stream, from its first message, which says what it is, to its status. */
class LiveCall extends OpenCall implements OpenStream {
  readonly #method: LiveMethod
  #placed: PlacedLive | undefined
  #hasEnded = false
  /** Lets the client send its next message. */
  #goOn: (() => void) | undefined

  constructor(server: ServerState, call: GrpcStream, method: LiveMethod) {
    super(server, call, method, notReady)
    this.#method = method
    this.ctx.onAbort((reason) => this.#placed?.inbox.end(reason))
    this.ctx.onEnd(() => this.#goOn?.())
  }

  get #hasRoom(): boolean {
    const placed = this.#placed
    return placed !== undefined && placed.inbox.cost < placed.route.maxBuffered
  }

  /** Resolves when the client may send its next message. */
  override async run(message: Uint8Array): Promise<void> {
    this.bytesIn += message.length
    try {
      if (this.#placed === undefined) await this.#begin(message)
      else this.#take(message, this.#placed)
    } catch (error) {
      this.#abort(decodeFailureOf(error))
    }
    if (this.#hasRoom || this.grpc.cancelled) return
    await new Promise<void>((resolve) => {
      this.#goOn = resolve
    })
  }

  ended(): void {
    this.#hasEnded = true
    this.#placed?.inbox.end()
  }

  /** The pings of the connection find clients that are gone. */
  sweep(): void {}

  stop(): void {
    this.#abort(new Overloaded('the server stops', { limit: 'draining' }))
  }

  #abort(error: ServingError): void {
    this.refuse(error)
    this.ctx.abort(error)
  }

  /** @throws why there is no such stream. */
  async #begin(message: Uint8Array): Promise<void> {
    const opened = await this.#method.open(message, this)
    if (this.grpc.cancelled) return
    const placed = this.#admit(opened)
    if (opened.hasInput) this.#take(message, placed)
    if (this.#hasEnded) placed.inbox.end()
    void sendStream(this, () => this.#answer(placed))
  }

  #admit(opened: OpenedLive): PlacedLive {
    const { lives, memory } = this.server
    const endpoint = lives.endpointOf(opened.route)
    const place = lives.admit(memory, endpoint)
    place.stream = this
    this.ctx.onEnd(() => place.leave())
    const inbox = new LiveInbox(
      {
        takesContext: true,
        decode: (bytes, _isText, _borrowed, ctx) => opened.decode(bytes, ctx as Context),
      },
      () => this.#hasRoom && this.#goOn?.(),
      place,
      this.ctx.headers,
    )
    this.#placed = { ...opened, counts: endpoint.counts, inbox }
    return this.#placed
  }

  #take(message: Uint8Array, { route, counts, inbox }: PlacedLive): void {
    counts.received++
    if (message.length > route.maxMessage) {
      const limit = `at most ${route.maxMessage} bytes for a message to ${route.name} (maxMessage)`
      throw new PayloadTooLarge(`expected ${limit}, received ${message.length}`)
    }
    inbox.push(message, false)
  }

  async #answer(placed: PlacedLive): Promise<void> {
    const { grpc: call, recorder } = this
    recorder?.answered(200)
    try {
      await runLive(placed.route, placed.inbox, (result) => this.#send(placed, result), this)
    } finally {
      await placed.inbox.return()
    }
    if (!call.stream.headersSent) this.setOwnMetadata()
  }

  async #send(placed: PlacedLive, result: unknown): Promise<void> {
    const { grpc: call } = this
    // The stream's own context would keep what each message leaves to its end.
    const ctx = new Context({ headers: this.ctx.headers })
    try {
      const bytes = await placed.encode(result, ctx)
      if (!call.stream.headersSent) this.setOwnMetadata()
      placed.counts.sent++
      await this.send(bytes)
    } finally {
      ctx.end()
    }
  }
}
