import { type Frame, sizeOf } from './live-frames.ts'
import { liveSource } from './live-source.ts'
import { errorOf, ServingError } from './serving-error.ts'
import { unlessAborted } from './transport.ts'
import type { WebSocketLike } from './web-socket.ts'

export type { LiveOptions } from './live-source.ts'

interface Ending {
  readonly code: number
  readonly reason: string
  readonly wasOpen: boolean
  readonly wasHeard: boolean
  readonly problem: Promise<ServingError> | undefined
}

/** Close codes after which another connection may succeed: going away, broken, restarted, overloaded. */
const passing: ReadonlySet<number> = new Set([1001, 1006, 1012, 1013])

/**
 * What a message costs of the credit beside its bytes.
 *
 * @see `messageCost` of the server.
 */
const messageCost = 64

/** How long nothing may come until the server is asked for a sign; as long again until it is taken for gone. */
const silenceMs = 30_000
const maxPauseMs = 30_000

/**
 * A live stream. Values that are sent before it is open wait, and so do those that the server
 * cannot take yet.
 *
 * @throws the iteration ends with a ServingError, or with the reason of the signal.
 */
export class Live<I, O> implements AsyncIterable<O> {
  readonly #source: ReturnType<typeof liveSource>
  readonly #inbox: Promise<O>[] = []
  #socket: WebSocketLike | undefined
  /** While it is above 0, a message may be sent, whatever its length. **Units**: bytes. */
  #credit = 0
  #tail: Promise<void> = Promise.resolve()
  #wakeSender = () => {}
  #wakeReader = () => {}
  /** Whether the connection has been told the end: another one would not know of it. */
  #hasEnded = false
  #isOver = false
  #failure: unknown

  /** @internal */
  constructor(...of: Parameters<typeof liveSource<I>>) {
    this.#source = liveSource(...of)
    const { signal } = this.#source.limit
    const abort = () => this.#finish(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const finish = (failure: unknown) => this.#finish(failure)
    this.#run().then(finish, finish)
  }

  /**
   * Sends a value. Resolves when it is on its way: the server had room for it.
   *
   * @throws rejected with ServingError `bad_input` for what the API does not take, and with the
   * error of the stream when that is over.
   */
  send(value: I): Promise<void> {
    return this.#queue(async () => this.#transmit(await this.#source.encode(value)))
  }

  /** Says that no more values follow the ones sent; answers still come. */
  end(): void {
    void this.#queue(async () => {
      await this.#transmit('{"$":"end"}', 0)
      this.#hasEnded = true
    })
  }

  /** Ends the stream both ways at once. Messages on their way are lost. */
  close(): void {
    this.#finish(undefined)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<O, void, undefined> {
    try {
      for (;;) {
        const next = this.#inbox.shift()
        if (next !== undefined) yield await next
        else if (this.#isOver) break
        else await new Promise<void>((resolve) => (this.#wakeReader = resolve))
      }
      if (this.#failure !== undefined) throw this.#failure
    } finally {
      this.close()
    }
  }

  #queue(work: () => Promise<void>): Promise<void> {
    const done = this.#tail.then(work)
    // A value that nobody waits for must not end the process.
    this.#tail = done.catch(() => {})
    return done
  }

  async #transmit(frame: Frame, cost = sizeOf(frame) + messageCost): Promise<void> {
    while (!this.#isOver && (this.#socket === undefined || (this.#credit <= 0 && cost > 0))) {
      await new Promise<void>((resolve) => (this.#wakeSender = resolve))
    }
    if (this.#isOver)
      throw this.#failure ?? new ServingError('the stream is closed', { code: 'closed' })
    this.#credit -= cost
    this.#socket?.send(frame)
  }

  /** Connects until the stream ends; returns its error, if it has one. */
  async #run(): Promise<unknown> {
    for (let failures = 0, isAgain = false; !this.#isOver; failures++) {
      const { code, reason, wasOpen, wasHeard, problem } = await this.#connect(isAgain)
      if (this.#isOver || code === 1000) return undefined
      isAgain ||= wasOpen
      if (wasHeard) failures = 0
      const refusal = wasOpen || !passing.has(code) ? undefined : await this.#source.whyRefused()
      const why = (await problem) ?? refusal ?? closedBy(code, reason)
      const mayPass = refusal === undefined || [0, 429, 503].includes(refusal.status)
      if (!passing.has(code) || !mayPass || this.#hasEnded || failures >= this.#source.retries)
        return why
      // With chance, so that clients that lost their connections together do not come back together.
      const pauseMs = Math.min(maxPauseMs, 250 * 2 ** failures) * (1 + Math.random())
      const wait = new Promise((resolve) => setTimeout(resolve, why.retryAfterMs ?? pauseMs))
      await unlessAborted(wait, this.#source.limit.signal)
    }
    return undefined
  }

  async #connect(isAgain: boolean): Promise<Ending> {
    const socket = await this.#source.connect()
    return new Promise((resolve) => {
      let isOpen = false
      let wasHeard = false
      let isSilent = false
      let problem: Promise<ServingError> | undefined
      const over = (code: number, reason: string) => {
        clearInterval(timer)
        this.#socket = undefined
        this.#credit = 0
        resolve({ code, reason, wasOpen: isOpen, wasHeard, problem })
        socket.close()
      }
      const timer = setInterval(() => {
        if (this.#isOver) return over(1000, '')
        if (!isOpen) return
        if (isSilent) return over(1006, 'the server is silent')
        isSilent = true
        socket.send('{"$":"ping"}')
      }, silenceMs)
      const begin = async () => {
        if (isAgain) {
          const first = this.#source.resume?.()
          if (first !== undefined) socket.send(await this.#source.encode(first))
        }
        this.#socket = socket
        this.#wakeSender()
      }
      const control = (message: {
        readonly $: string
        readonly bytes?: number
        readonly status?: number
      }) => {
        const { $: kind, bytes = 0, status = 500 } = message
        if (kind === 'error') problem = errorOf(new Response(JSON.stringify(message), { status }))
        else if (kind === 'credit') {
          this.#credit += bytes
          this.#wakeSender()
        }
      }
      socket.binaryType = 'arraybuffer'
      socket.addEventListener('open', () => {
        isOpen = true
        this.#source.limit.started()
        if (this.#isOver) socket.close(1000)
        else begin().catch((error) => this.#finish(error))
      })
      socket.addEventListener('message', ({ data }) => {
        isSilent = false
        if (this.#isOver) return
        if (typeof data === 'string' && isControl(data)) return control(JSON.parse(data))
        wasHeard = true
        const value = this.#source.decode(data as Frame) as Promise<O>
        // Whoever reads it gets its error.
        value.catch(() => {})
        this.#inbox.push(value)
        this.#wakeReader()
      })
      socket.addEventListener('close', ({ code, reason }) => over(code, reason))
      // The close follows it.
      socket.addEventListener('error', () => {})
    })
  }

  #finish(failure: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    this.#source.limit.release()
    this.#socket?.close(1000)
    this.#wakeSender()
    this.#wakeReader()
  }
}

function isControl(text: string): boolean {
  return text.startsWith('{"$":') && !text.startsWith('{"$":"value"')
}

function closedBy(code: number, reason: string): ServingError {
  const why = reason === '' ? `close code ${code}` : `${reason} (close code ${code})`
  return new ServingError(`the stream broke off: ${why}`, { code: 'network' })
}
