/** What the requests of one connection of node:http share. @module */
import type { Socket } from 'node:net'
import { TurnCounter } from '../admission.ts'

/** One connection. */
export class Connection {
  /** Whether it closes after this response: Node would crash over pipelined requests answered out of turn. */
  closing = false
  readonly #running = new Set<() => void>()
  readonly #turn = new TurnCounter(256)

  constructor(socket: Socket) {
    socket.once('close', () => {
      for (const abort of [...this.#running]) abort()
    })
  }

  addRequest(): boolean {
    return this.#turn.add()
  }

  get isBusy(): boolean {
    return this.closing || this.#running.size > 0
  }

  /** Calls `abort` when the socket closes: Node notifies only the response whose turn it is. */
  add(abort: () => void): void {
    this.#running.add(abort)
  }

  delete(abort: () => void): void {
    this.#running.delete(abort)
  }
}

const connections = new WeakMap<Socket, Connection>()

/** Returns the connection of a socket, the same one each time. */
export function connectionOf(socket: Socket): Connection {
  let connection = connections.get(socket)
  if (connection === undefined) {
    connection = new Connection(socket)
    connections.set(socket, connection)
  }
  return connection
}
