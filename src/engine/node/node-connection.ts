/** What the requests of one connection of node:http share. @module */
import type { Socket } from 'node:net'
import { TurnCounter } from '../admission.ts'
import type { Logger } from '../log.ts'

interface OpenRequest {
  abort(): void
}

/** One connection. */
export class Connection {
  /** Whether it closes after this response: Node would crash over pipelined requests answered out of turn. */
  closing = false
  readonly #running = new Set<OpenRequest>()
  readonly #turn = new TurnCounter(256)
  #onIdle: (() => void) | undefined

  constructor(socket: Socket) {
    socket.once('close', () => {
      for (const request of [...this.#running]) request.abort()
    })
  }

  addRequest(): boolean {
    return this.#turn.add()
  }

  get isBusy(): boolean {
    return this.closing || this.#running.size > 0
  }

  /** Aborts the request when the socket closes: Node notifies only the response whose turn it is. */
  add(request: OpenRequest): void {
    this.#running.add(request)
  }

  delete(request: OpenRequest): void {
    this.#running.delete(request)
    this.#tellIdle()
  }

  /** Calls `next` in a later turn in which all requests before it are answered, never if the connection closes. */
  whenIdle(next: () => void): void {
    this.#onIdle = next
    this.#tellIdle()
  }

  #tellIdle(): void {
    const next = this.#onIdle
    if (next === undefined || this.#running.size > 0) return
    this.#onIdle = undefined
    // Node has let go of the last response by then.
    setImmediate(() => {
      if (!this.closing) next()
    })
  }
}

const connections = new WeakMap<Socket, Connection>()

/** @returns the connection of a socket, the same one each time. */
export function connectionOf(socket: Socket): Connection {
  let connection = connections.get(socket)
  if (connection === undefined) {
    connection = new Connection(socket)
    connections.set(socket, connection)
  }
  return connection
}

const logEveryMs = 60_000

/**
 * node:http has no limit for each address.
 *
 * @returns what closes a new connection above `max` of its address.
 */
export function connectionCap(max: number, log: Logger): (socket: Socket) => void {
  const counts = new Map<string, number>()
  let loggedAt = Number.NEGATIVE_INFINITY
  return (socket) => {
    const address = socket.remoteAddress ?? ''
    const count = (counts.get(address) ?? 0) + 1
    if (count <= max) {
      counts.set(address, count)
      socket.once('close', () => {
        const left = (counts.get(address) ?? 1) - 1
        if (left === 0) counts.delete(address)
        else counts.set(address, left)
      })
      return
    }
    socket.destroy()
    const now = performance.now()
    if (now - loggedAt < logEveryMs) return
    loggedAt = now
    const fields = { event: 'connections_capped', address, max }
    log.warn(fields, 'connections above maxConnectionsPerAddress were closed')
  }
}
