/** Caps the connections of one client. @module */
import type { Socket } from 'node:net'
import type { Logger } from '../log.ts'

const logEveryMs = 60_000

/** node:http has no limit for each address. */
export class ConnectionCap {
  readonly #max: number
  readonly #log: Logger
  readonly #counts = new Map<string, number>()
  #loggedAt = Number.NEGATIVE_INFINITY

  constructor(max: number, log: Logger) {
    this.#max = max
    this.#log = log
  }

  take(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const count = (this.#counts.get(address) ?? 0) + 1
    if (count > this.#max) {
      socket.destroy()
      this.#tell(address)
      return
    }
    this.#counts.set(address, count)
    socket.once('close', () => this.#release(address))
  }

  #release(address: string): void {
    const left = (this.#counts.get(address) ?? 1) - 1
    if (left === 0) this.#counts.delete(address)
    else this.#counts.set(address, left)
  }

  #tell(address: string): void {
    const now = performance.now()
    if (now - this.#loggedAt < logEveryMs) return
    this.#loggedAt = now
    const fields = { event: 'connections_capped', address, max: this.#max }
    this.#log.warn(fields, 'connections above maxConnectionsPerAddress were closed')
  }
}
