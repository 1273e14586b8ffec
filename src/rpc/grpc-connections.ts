/** The connections of the gRPC server: pings, idle ones, and their end. @module */
import type { Http2Server, ServerHttp2Session } from 'node:http2'

// Pings keep proxies from forgetting a connection, and find dead ones. **Units**: milliseconds.
const pingMs = 60_000
const pongMs = 20_000
// A connection without calls for this long is closed. **Units**: milliseconds.
const idleMs = 300_000
// For the end of answers, before idle connections are cut. **Units**: milliseconds.
const closeMs = 500
// Flow control window of a connection: the default makes large messages wait. **Units**: bytes.
const windowBytes = 4 * 1024 * 1024

/** Settings that clients get. */
export const http2Settings = Object.freeze({
  /** Flow control window of a call. **Units**: bytes. */
  initialWindowSize: windowBytes,
  /** Clients on gRPC core then send large messages in one frame; node:http2 holds no frame. **Units**: bytes. */
  maxFrameSize: 1024 * 1024,
})

/** The connections of a server. */
export interface GrpcConnections {
  /** Stops listening, and sends clients elsewhere. Resolves when all connections are closed. */
  leave(): Promise<void>
  /** As `leave`, and ends the calls that still run. */
  close(): Promise<void>
}

/** Follows the connections of a server. */
export function followConnections(server: Http2Server): GrpcConnections {
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    keepAlive(session)
  })
  let closed: Promise<void> | undefined
  const leave = () => {
    closed ??= new Promise((resolve) => {
      server.close(() => resolve())
      for (const session of sessions) session.close()
    })
    return closed
  }
  const close = async () => {
    // Idle clients do not close their connections.
    const force = setTimeout(() => {
      for (const session of sessions) session.destroy()
    }, closeMs)
    await leave()
    clearTimeout(force)
  }
  return { leave, close }
}

/** Pings a connection, and closes an idle one. */
function keepAlive(session: ServerHttp2Session): void {
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
    clearInterval(timer)
    clearTimeout(late)
  })
}
