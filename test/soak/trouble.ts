/**
 * Clients that harm: hostile bodies, broken requests, aborts, slow senders, readers that do not read, and live streams
 * that vanish or are read slowly.
 * @module
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import { hostileBodies } from '../corpora/hostile.ts'
import { fuzzRequest, kinds } from '../fuzz/corpora.ts'
import { frame, upgradeText } from '../live/frames.ts'

/** What the harmful clients have done. */
export interface Trouble {
  readonly counts: Readonly<Record<string, number>>
  /** Answers to hostile bodies that were none, or 500. */
  readonly failures: { readonly at: number; readonly what: string }[]
  stop(): Promise<void>
}

const everyMs = {
  hostile: 500,
  broken: 100,
  abort: 100,
  slow: 1000,
  deaf: 2000,
  vanish: 200,
  unread: 2000,
}
const slowSockets = 50
/** A message of 10 kB. */
const piece = frame(1, 'x'.repeat(10_000))

/** Starts all of them; each kind at its own pace, one after another. */
export function startTrouble(port: number): Trouble {
  const counts: Record<string, number> = {
    hostile: 0,
    broken: 0,
    abort: 0,
    slow: 0,
    deaf: 0,
    vanish: 0,
    unread: 0,
  }
  const failures: { at: number; what: string }[] = []
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 4, headersTimeout: 60_000 })
  const sockets = new Set<Socket>()
  let isOver = false

  const open = () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    sockets.add(socket)
    return socket
  }
  const send = async (
    name: string,
    path: string,
    headers: Record<string, string>,
    body: Uint8Array,
  ) => {
    try {
      const { statusCode, body: answer } = await pool.request({
        method: 'POST',
        path,
        headers,
        body,
      })
      await answer.dump()
      if (statusCode === 500) failures.push({ at: Date.now(), what: `${name}: ${statusCode}` })
    } catch (error) {
      failures.push({ at: Date.now(), what: `${name}: ${error}` })
    }
  }
  const head = (path: string, length: number) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: ${length}\r\n\r\n`

  const acts: Record<keyof typeof everyMs, (i: number) => Promise<void> | void> = {
    async hostile(i) {
      const { title, path, headers, body } = hostileBodies[i % hostileBodies.length]
      await send(title, path, { ...headers }, body)
    },
    async broken(i) {
      const kind = kinds[i % kinds.length]
      const { path, contentType, body } = fuzzRequest(17, kind, 500 + i)
      await send(
        `${kind} ${500 + i}`,
        path,
        contentType === undefined ? {} : { 'content-type': contentType },
        body,
      )
    },
    // In the middle of the body, or of the answer.
    async abort(i) {
      const socket = open()
      if (i % 2 === 0) socket.write(`${head('/text', 100_000)}${'x'.repeat(50_000)}`)
      else socket.write(`${head('/large', 7)}2000000`)
      await wait(5 + (i % 20))
      socket.resetAndDestroy()
    },
    // A byte of a body each second.
    slow() {
      if (sockets.size > slowSockets) return
      const socket = open()
      socket.write(head('/text', 1000))
      const timer = setInterval(() => socket.write('x'), 1000)
      socket.once('close', () => clearInterval(timer))
    },
    // Asks for 5 MB and reads nothing.
    deaf() {
      if (sockets.size > slowSockets) return
      const socket = open()
      socket.pause()
      socket.write(`${head('/large', 7)}5000000`)
      setTimeout(() => socket.destroy(), 30_000).unref()
    },
    // A live stream that ends in the middle of its messages.
    async vanish(i) {
      const socket = open()
      socket.write(upgradeText('/live_echo'))
      await wait(5 + (i % 20))
      for (let message = 0; message < 20; message++) socket.write(piece)
      if (i % 2 === 0) socket.resetAndDestroy()
      else socket.destroy()
    },
    // Sends 5 MB to a live stream, and reads 1 kB of the answers a second.
    async unread() {
      if (sockets.size > slowSockets) return
      const socket = open()
      socket.write(upgradeText('/live_echo'))
      await once(socket, 'readable', { signal: AbortSignal.timeout(5000) }).catch(() => {})
      for (let message = 0; message < 500; message++) socket.write(piece)
      const timer = setInterval(() => socket.read(1000), 1000)
      socket.once('close', () => clearInterval(timer))
      setTimeout(() => socket.destroy(), 30_000).unref()
    },
  }
  const loops = Object.entries(acts).map(async ([kind, act]) => {
    for (let i = 0; !isOver; i++) {
      await act(i)
      counts[kind]++
      await wait(everyMs[kind as keyof typeof everyMs])
    }
  })
  return {
    counts,
    failures,
    async stop() {
      isOver = true
      for (const socket of sockets) socket.destroy()
      await Promise.all(loops)
      await pool.close()
    },
  }
}
