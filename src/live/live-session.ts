import type { LiveRoute } from '../api/live-route.ts'
import { functionFailureOf } from '../api/stages.ts'
import type { Visit } from '../api/visit.ts'
import {
  ClientClosed,
  Overloaded,
  PayloadTooLarge,
  type ServingError,
  TooManyRequests,
  tellsDetail,
} from '../core/errors.ts'
import type { HeldMemory } from '../core/memory/held-memory.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { Waiter } from '../core/waiter.ts'
import type { Context } from '../http/context.ts'
import {
  closeCodeOf,
  closeCodes,
  closeReason,
  creditMessage,
  errorMessage,
  escapeText,
  isControl,
  parseControl,
  pongMessage,
} from './framing.ts'
import { LiveCodec, type LiveMessage } from './live-codec.ts'
import { LiveInbox } from './live-inbox.ts'
import { freeBytes, type LivePlace, type OpenStream } from './live-place.ts'
import type { LiveListener, LiveSocket } from './live-socket.ts'
import type { LiveEndpoint } from './live-streams.ts'
import { runLive } from './run-live.ts'

// Of UTF-8 for a unit of a text, and of a frame's head. **Units**: bytes.
const maxUnitBytes = 3
const maxFrameBytes = 14

/** The server's side of one live stream: its log and its counts. */
export interface LiveHost {
  /** Called with what ends the stream, before the client is told. */
  failed(error: Error): void
  received(bytes: number): void
  sent(content: string | Uint8Array): void
  /** Called once, when the socket is closed. */
  ended(): void
}

/** One live stream over a WebSocket: its function between the client's messages and those to it. */
export class LiveSession implements LiveListener, OpenStream {
  readonly #route: LiveRoute
  readonly #codec: LiveCodec
  readonly #visit: Visit
  readonly #host: LiveHost
  /** Whether the client speaks the subprotocol. */
  readonly #isFramed: boolean
  readonly #inbox: LiveInbox
  readonly #encoding: Context
  #socket: LiveSocket | undefined
  /** What the function has taken since the last credit. **Units**: bytes. */
  #taken = 0
  readonly #waiter = new Waiter()
  #isClosing = false
  #heardAt = performance.now()
  #wasHeard = true
  readonly #unread: HeldMemory
  /** At the last sweep. **Units**: bytes. */
  #unreadAtSweep = 0
  /** Bytes that wait for the client to read, at most: asking the socket each time takes longer. */
  #unreadAtMost = 0
  /** So many are free, and no reason to wait. **Units**: bytes. */
  readonly #unaskedBytes: number
  /** Whether more of them may wait. */
  #isUnread = false

  /** Opens the stream at its place. */
  constructor(
    { route, codec }: LiveEndpoint,
    place: LivePlace,
    visit: Visit,
    host: LiveHost,
    isFramed: boolean,
  ) {
    this.#route = route
    this.#codec = codec
    this.#visit = visit
    this.#host = host
    this.#isFramed = isFramed
    this.#unread = place.account()
    this.#unaskedBytes = Math.min(freeBytes, route.maxBuffered)
    this.#encoding = LiveCodec.contextFor(visit.ctx.headers)
    this.#inbox = new LiveInbox(codec, (cost) => this.#grant(cost), place, visit.ctx.headers)
    place.stream = this
  }

  open(socket: LiveSocket): void {
    this.#socket = socket
    if (this.#isFramed) this.#write(creditMessage(this.#route.maxBuffered))
    void this.#run()
  }

  async #run(): Promise<void> {
    try {
      await runLive(this.#route, this.#inbox, (result) => this.#send(result), this.#visit)
      await this.#room()
      this.#close(closeCodes.done, '')
    } catch (error) {
      // That of a stream which is closed already tells nothing.
      if (!this.#isClosing) this.#fail(functionFailureOf(error))
    }
  }

  #send(result: unknown): MaybePromise<void> {
    const message = this.#codec.encode(result, this.#encoding)
    if (isPromise(message)) return Promise.resolve(message).then((later) => this.#sendInTurn(later))
    return this.#sendInTurn(message)
  }

  #sendInTurn(message: LiveMessage): MaybePromise<void> {
    const room = this.#isUnread ? this.#room() : undefined
    if (room !== undefined) return room.then(() => this.#sendMessage(message))
    this.#sendMessage(message)
  }

  #textOf(content: LiveMessage['content'], isJson: boolean): string {
    const text = typeof content === 'string' ? content : Buffer.from(content).toString()
    return this.#isFramed ? escapeText(text, isJson) : text
  }

  #sendMessage({ content, isText, isJson, pooled }: LiveMessage): void {
    const socket = this.#socket
    if (socket === undefined || this.#isClosing) return
    const sent = isText ? this.#textOf(content, isJson) : content
    this.#write(sent)
    if (this.#isUnread && !this.#holdsUnread(socket)) this.#giveUp(socket)
    if (socket.copies) pooled?.give(content)
    this.#host.sent(sent)
  }

  #write(message: string | Uint8Array): void {
    if (this.#socket?.send(message) !== false) return
    this.#unreadAtMost += message.length * maxUnitBytes + maxFrameBytes
    this.#isUnread = this.#unreadAtMost > this.#unaskedBytes
  }

  /** @returns a promise only if the client has to read first. */
  #room(): Promise<void> | undefined {
    if (this.#socket === undefined || this.#hasRoom) return undefined
    return this.#waiter.wait()
  }

  drained(): void {
    if (!this.#hasRoom) return
    this.#waiter.wake()
    this.#grant(0)
  }

  /** Whether the client has read enough for more messages. */
  get #hasRoom(): boolean {
    const socket = this.#socket
    if (socket === undefined || !this.#isUnread) return socket !== undefined
    return this.#holdsUnread(socket) && this.#unreadAtMost <= this.#route.maxBuffered
  }

  /** Whether there is memory for what the client has not read. */
  #holdsUnread(socket: LiveSocket): boolean {
    this.#unreadAtMost = socket.buffered()
    this.#isUnread = this.#unreadAtMost > this.#unaskedBytes
    return this.#unread.hold(this.#unreadAtMost)
  }

  /** A close frame would wait behind what the client does not read. */
  #giveUp(socket: LiveSocket): void {
    this.#fail(
      new Overloaded('too little memory for messages that the client does not read', {
        limit: 'memory',
      }),
    )
    socket.terminate()
  }

  message(bytes: Uint8Array, isText: boolean): void {
    if (this.#isClosing) return
    this.#wasHeard = true
    this.#host.received(bytes.length)
    const { maxMessage, name } = this.#route
    if (bytes.length > maxMessage) {
      const limit = `at most ${maxMessage} bytes for a message to ${name} (maxMessage)`
      this.#fail(new PayloadTooLarge(`expected ${limit}, received ${bytes.length}`))
    } else if (this.#isFramed && isText && isControl(bytes)) this.#control(bytes)
    else this.#take(bytes, isText)
  }

  #take(bytes: Uint8Array, isText: boolean): void {
    const { maxBuffered } = this.#route
    if (this.#inbox.cost >= maxBuffered) {
      const limit = `at most ${maxBuffered} bytes of messages that the function has not taken (maxBuffered)`
      this.#fail(new TooManyRequests(`expected ${limit}, received more`), closeCodes.policy)
      return
    }
    try {
      this.#inbox.push(bytes, isText)
    } catch (error) {
      this.#fail(functionFailureOf(error))
    }
  }

  #control(bytes: Uint8Array): void {
    try {
      const control = parseControl(bytes, !this.#codec.textType?.startsWith('text/'))
      if (control.$ === 'end') this.#inbox.end()
      else if (control.$ === 'value') {
        const value = Buffer.from(control.text)
        this.#take(value, true)
        // The client has paid for the text around the value, too.
        this.#grant(bytes.length - value.length)
        // Not to a client that does not read.
      } else if (this.#hasRoom) this.#write(pongMessage)
    } catch (error) {
      this.#fail(functionFailureOf(error))
    }
  }

  /** Lets the client send more, before it has used up what it may. */
  #grant(cost: number): void {
    this.#taken += cost
    if (
      !this.#isFramed ||
      this.#isClosing ||
      this.#taken * 4 < this.#route.maxBuffered ||
      !this.#hasRoom
    )
      return
    this.#write(creditMessage(this.#taken))
    this.#taken = 0
  }

  heard(): void {
    this.#wasHeard = true
  }

  /** A client that reads is heard, too: its answers to pings come behind what it has to read. */
  sweep(now: number): void {
    const socket = this.#socket
    if (socket === undefined) return
    const unread = socket.buffered()
    if (this.#wasHeard || unread < this.#unreadAtSweep) this.#heardAt = now
    this.#wasHeard = false
    this.#unreadAtSweep = unread
    const { idleTimeoutMs } = this.#route
    if (now - this.#heardAt < idleTimeoutMs) {
      if (now > this.#heardAt && !this.#isClosing) socket.ping()
    } else if (this.#isClosing) socket.terminate()
    else {
      this.#heardAt = now
      this.#fail(
        new ClientClosed(`expected a sign of life within ${idleTimeoutMs} ms, none came`),
        closeCodes.idle,
      )
    }
  }

  stop(): void {
    this.#close(
      closeCodes.restart,
      'the server stops',
      new ClientClosed('the server closed the stream to stop'),
    )
  }

  #fail(error: ServingError, code = closeCodeOf(error)): void {
    if (this.#isClosing) return
    this.#host.failed(error)
    if (this.#isFramed) this.#write(errorMessage(error, this.#visit.ctx.id))
    this.#close(code, closeReason(tellsDetail(error) ? error.message : error.code), error)
  }

  #close(code: number, reason: string, error?: Error): void {
    if (this.#isClosing) return
    this.#isClosing = true
    if (error !== undefined) this.#leave(error)
    this.#socket?.close(code, reason)
  }

  closed(): void {
    this.#socket = undefined
    if (!this.#isClosing) this.#leave(new ClientClosed())
    this.#isClosing = true
    void this.#inbox.return()
    this.#unread.hold(0)
    this.#host.ended()
  }

  /** Ends what the function waits for. */
  #leave(reason: Error): void {
    this.#visit.ctx.abort(reason)
    this.#inbox.end(reason)
    this.#waiter.wake()
  }
}
