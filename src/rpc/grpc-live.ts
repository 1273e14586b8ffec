/** Live streams over gRPC: `CallLive`. @module */

import { decodeFailureOf } from '../api/stages.ts'
import {
  BadInput,
  expected,
  NotFound,
  Overloaded,
  PayloadTooLarge,
  type ServingError,
} from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'
import { contentOf, fromContent } from '../descriptors/proto-content.ts'
import { notReady } from '../engine/admission.ts'
import type { ServerState } from '../engine/engine.ts'
import type { HookedEndpoint } from '../engine/service-hooks.ts'
import { Context } from '../http/context.ts'
import { LiveInbox } from '../live/live-inbox.ts'
import type { OpenStream } from '../live/live-place.ts'
import type { LiveEndpoint, LiveStreams } from '../live/live-streams.ts'
import { runLive } from '../live/run-live.ts'
import { decodeRequest, encodeResponse } from '../messages/envelope.ts'
import { sendStream } from './grpc-calls.ts'
import type { Answerer, GrpcMethod, Status } from './grpc-stream.ts'
import { OpenCall } from './open-call.ts'

/** @returns `CallLive`. */
export function liveMethod(server: ServerState, path: string, lives: LiveStreams): GrpcMethod {
  // Its client alone sets a deadline.
  const served = { ...server, limits: { ...server.limits, requestTimeoutMs: 0 } }
  const endpoint: HookedEndpoint = { path, access: { kind: 'message' }, origins: 'any' }
  return {
    isDuplex: true,
    begin: (call) =>
      new LiveCall(new OpenCall(served, call, endpoint, () => {}, notReady), served, lives),
  }
}

/** One live stream, from its first message, which names the API, to its status. */
class LiveCall implements Answerer, OpenStream {
  readonly refusal: Answerer['refusal']
  readonly #open: OpenCall
  readonly #server: ServerState
  readonly #lives: LiveStreams
  /** Undefined until the stream has its place. */
  #inbox: LiveInbox | undefined
  #hasEnded = false
  #endpoint: LiveEndpoint | undefined
  /** Lets the client send its next message. */
  #goOn: (() => void) | undefined

  constructor(open: OpenCall, server: ServerState, lives: LiveStreams) {
    this.#open = open
    this.#server = server
    this.#lives = lives
    this.refusal = open.refusal
    open.ctx.onAbort((reason) => this.#inbox?.end(reason))
    open.ctx.onEnd(() => this.#goOn?.())
  }

  get #hasRoom(): boolean {
    const { live } = this.#endpoint ?? {}
    return live !== undefined && this.#inbox !== undefined && this.#inbox.cost < live.maxBuffered
  }

  /** Resolves when the client may send its next message. */
  async run(message: Uint8Array): Promise<void> {
    this.#open.bytesIn += message.length
    try {
      if (this.#endpoint === undefined || this.#inbox === undefined) await this.#begin(message)
      else this.#take(message, this.#endpoint, this.#inbox)
    } catch (error) {
      this.#refuse(decodeFailureOf(error))
    }
    if (this.#hasRoom || this.#open.grpc.cancelled) return
    await new Promise<void>((resolve) => {
      this.#goOn = resolve
    })
  }

  ended(): void {
    this.#hasEnded = true
    this.#inbox?.end()
  }

  fail(error: ServingError): Status {
    return this.#open.fail(error)
  }

  cancel(): void {
    this.#open.cancel()
  }

  /** The pings of the connection find clients that are gone. */
  sweep(): void {}

  stop(): void {
    this.#refuse(new Overloaded('the server stops', { limit: 'draining' }))
  }

  #refuse(error: ServingError): void {
    const { grpc: call, ctx } = this.#open
    if (!call.cancelled) call.refuse(this.#open.fail(error))
    ctx.abort(error)
  }

  /** @throws why there is no such stream. */
  async #begin(message: Uint8Array): Promise<void> {
    const { grpc: call } = this.#open
    const { apiName, content } = decodeRequest(message)
    const endpoint = this.#lives.endpoints.find(({ name }) => name === apiName)
    if (endpoint === undefined) {
      throw (
        this.#open.denial ??
        new NotFound(expected('the name of a live stream', 'api_name', apiName.slice(0, 80)))
      )
    }
    await this.#open.enter(endpoint.live)
    if (call.cancelled) return
    const inbox = this.#admit(endpoint)
    if (content !== undefined) this.#take(message, endpoint, inbox)
    if (this.#hasEnded) inbox.end()
    void sendStream(this.#open, () => this.#answer(endpoint, inbox))
  }

  #admit(endpoint: LiveEndpoint): LiveInbox {
    const place = this.#lives.admit(this.#server.memory, endpoint)
    place.stream = this
    this.#endpoint = endpoint
    this.#server.limiter.enter()
    this.#open.ctx.onEnd(() => {
      this.#server.limiter.leave()
      place.leave()
    })
    const inbox = new LiveInbox(
      (bytes) => this.#decode(bytes),
      () => this.#hasRoom && this.#goOn?.(),
      place,
    )
    this.#inbox = inbox
    return inbox
  }

  #take(message: Uint8Array, { live, counts }: LiveEndpoint, inbox: LiveInbox): void {
    counts.received++
    if (message.length > live.maxMessage) {
      const limit = `at most ${live.maxMessage} bytes for a message to ${live.name} (maxMessage)`
      throw new PayloadTooLarge(`expected ${limit}, received ${message.length}`)
    }
    inbox.push(message, false)
  }

  #decode(message: Uint8Array): MaybePromise<unknown> {
    const { live } = this.#endpoint as LiveEndpoint
    const { apiName, content } = decodeRequest(message)
    if (apiName !== '' && apiName !== live.name) {
      throw new BadInput(
        expected(
          `no other api_name than ${live.name}`,
          'a message of its stream',
          apiName.slice(0, 80),
        ),
      )
    }
    return fromContent(live.input, content)
  }

  async #answer({ live }: LiveEndpoint, inbox: LiveInbox): Promise<void> {
    const { grpc: call, ctx, recorder } = this.#open
    recorder?.answered(200)
    try {
      await runLive(live, inbox, (result) => this.#send(result), ctx)
    } finally {
      await inbox.return()
    }
    if (!call.stream.headersSent) this.#open.setOwnMetadata()
  }

  async #send(result: unknown): Promise<void> {
    const { grpc: call } = this.#open
    const { live, counts } = this.#endpoint as LiveEndpoint
    // The stream's own context would keep what each message leaves to its end.
    const ctx = new Context({ headers: this.#open.ctx.headers })
    try {
      const bytes = encodeResponse(
        contentOf(live.output, await live.output.toProto(result as never, ctx)),
      )
      if (!call.stream.headersSent) this.#open.setOwnMetadata()
      counts.sent++
      await this.#open.send(bytes)
    } finally {
      ctx.end()
    }
  }
}
