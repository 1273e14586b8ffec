/** The connections of the gRPC server: pings, idle ones, and their end. @module */
import type { Http2Server, ServerHttp2Session } from 'node:http2'

// How often a connection is pinged, and looked at, which keeps proxies from forgetting it; one that does not answer in
// time is closed. **Units**: milliseconds.
const pingMs = 60_000
const pongMs = 20_000
// A connection without calls for this long, or one that never sends anything, is closed. **Units**: milliseconds.
const idleMs = 300_000
// For the tail of answers and the pings of clients that hold an idle connection. **Units**: milliseconds.
const closeMs = 500
// What a client may send ahead on a connection. By default 64 KiB: a message of 600 KB would wait ten times for this
// process. **Units**: bytes.
const windowBytes = 4 * 1024 * 1024

/** Settings that clients get. */
export const http2Settings = Object.freeze({
  /** What a client may send ahead in a call. **Units**: bytes. */
  initialWindowSize: windowBytes,
  /**
   * By default 16 KiB. Clients on gRPC core send 600 KB in one frame then, and not in 38, each of which is an event of
   * its own here. node:http2 passes the bytes on as they come, and holds no frame. **Units**: bytes.
   */
  maxFrameSize: 1024 * 1024,
})

/** Follows the connections of a server. */
export class GrpcConnections {
  readonly #server: Http2Server
  readonly #sessions = new Set<ServerHttp2Session>()
  #closed: Promise<void> | undefined

  constructor(server: Http2Server) {
    this.#server = server
    server.on('session', (session) => this.#follow(session))
  }

  /** Stops listening and asks clients to connect anew for their next calls. Resolves when all connections closed. */
  leave(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve())
      for (const session of this.#sessions) session.close()
    })
    return this.#closed
  }

  /** As `leave`, and ends the calls that still run. */
  async close(): Promise<void> {
    // Waits for clients to close their connections, which idle ones do not do by themselves.
    const force = setTimeout(() => {
      for (const session of this.#sessions) session.destroy()
    }, closeMs)
    await this.leave()
    clearTimeout(force)
  }

  #follow(session: ServerHttp2Session): void {
    this.#sessions.add(session)
    session.setLocalWindowSize(windowBytes)
    let calls = 0
    let idleSince = performance.now()
    session.on('stream', (stream) => {
      calls++
      stream.once('close', () => {
        calls--
        idleSince = performance.now()
      })
    })
    let late: NodeJS.Timeout | undefined
    const timer = setInterval(() => {
      if (session.destroyed) return
      if (calls === 0 && performance.now() - idleSince >= idleMs) session.close()
      late ??= setTimeout(() => session.destroy(), pongMs)
      session.ping(() => {
        clearTimeout(late)
        late = undefined
      })
    }, pingMs)
    session.once('close', () => {
      this.#sessions.delete(session)
      clearInterval(timer)
      clearTimeout(late)
    })
  }
}
