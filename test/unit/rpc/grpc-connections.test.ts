import {
  type ClientHttp2Session,
  connect,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { followConnections } from '../../../src/rpc/grpc-connections.ts'

const clock = ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'] as const

describe('the connections of the gRPC server', () => {
  let server: Http2Server
  let session: ClientHttp2Session
  let theirs: ServerHttp2Session
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: [...clock] })
    server = createServer()
    followConnections(server)
    server.on('session', (opened) => {
      theirs = opened
    })
    server.on('stream', (stream) => stream.respond({ ':status': 200 }))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await new Promise((resolve) => session.once('remoteSettings', resolve))
  })
  afterEach(() => {
    vi.useRealTimers()
    session.destroy()
    server.close()
  })

  /** Resolves when the server has the answer to its next ping. */
  function answered(): Promise<void> {
    type Pong = (...answer: readonly unknown[]) => void
    const { ping } = theirs as { readonly ping: (this: ServerHttp2Session, done: Pong) => boolean }
    return new Promise((resolve) => {
      theirs.ping = (done: unknown) => {
        theirs.ping = ping as typeof theirs.ping
        return ping.call(theirs, (...answer) => {
          ;(done as Pong)(...answer)
          resolve()
        })
      }
    })
  }

  async function passMinutes(count: number): Promise<void> {
    for (let minute = 1; minute <= count; minute++) {
      const answer = answered()
      vi.advanceTimersByTime(60_000)
      await answer
    }
  }

  it('are pinged each minute, and closed when there was no call for five', async () => {
    let pings = 0
    session.on('ping', () => pings++)
    await passMinutes(4)
    expect([pings, session.closed]).toEqual([4, false])
    const closed = new Promise((resolve) => session.once('close', resolve))
    vi.advanceTimersByTime(60_000)
    await closed
  })

  it('stay open while a call is open', async () => {
    const stream = session.request({ ':path': '/' })
    await new Promise((resolve) => stream.once('response', resolve))
    await passMinutes(7)
    expect(session.closed).toBe(false)
  })

  it('are closed when a ping is not answered in time', async () => {
    const closed = new Promise((resolve) => session.once('close', resolve))
    theirs.ping = () => true
    vi.advanceTimersByTime(79_000)
    expect(theirs.destroyed).toBe(false)
    vi.advanceTimersByTime(1_000)
    expect(theirs.destroyed).toBe(true)
    await closed
  })
})
