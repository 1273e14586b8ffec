/**
 * Load over WebSockets from plain sockets: a client library would take more time than the servers.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { BenchCase } from '../cases/case.ts'
import type { Sender } from './load.ts'

type Live = NonNullable<BenchCase['live']>

/** Returns the answers to one message in a row. */
export async function askByWebSocket(
  url: string,
  body: Uint8Array,
  { isText, answers }: Live,
): Promise<Buffer> {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const pieces: Buffer[] = []
  const done = new Promise<void>((resolve, reject) => {
    socket.on('message', (piece: Buffer) => {
      pieces.push(piece)
      if (pieces.length === answers) resolve()
    })
    socket.on('close', (code, reason) => reject(new Error(`closed with ${code} ${reason}`)))
  })
  socket.send(body, { binary: !isText })
  await done
  socket.terminate()
  return Buffer.concat(pieces)
}

/** A frame of one message, masked with zeros, so that the bytes stay as they are. **Source**: RFC 6455, 5.2. */
function frameOf(body: Buffer, isText: boolean): Buffer {
  const head = Buffer.alloc(14)
  head[0] = isText ? 0x81 : 0x82
  const { length } = body
  const short = length < 126 ? length : length < 65_536 ? 126 : 127
  head[1] = 0x80 | short
  if (short === 126) head.writeUInt16BE(length, 2)
  else if (short === 127) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head.subarray(0, { 126: 8, 127: 14 }[short] ?? 6), body])
}

/** Counts whole frames of a server, whose bytes are skipped. */
class FrameCounter {
  #head: Buffer = Buffer.alloc(0)
  #skip = 0

  count(bytes: Buffer): number {
    let frames = 0
    let rest = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes])
    this.#head = Buffer.alloc(0)
    for (;;) {
      const skipped = Math.min(this.#skip, rest.length)
      this.#skip -= skipped
      rest = rest.subarray(skipped)
      if (this.#skip > 0) return frames
      if (skipped > 0) frames++
      if (rest.length < 2) break
      const headLength = { 126: 4, 127: 10 }[rest[1]] ?? 2
      if (rest.length < headLength) break
      if (rest[0] !== 0x81 && rest[0] !== 0x82)
        throw new Error(`expected a whole message, received ${rest[0]}`)
      this.#skip =
        headLength === 2
          ? rest[1]
          : headLength === 4
            ? rest.readUInt16BE(2)
            : Number(rest.readBigUInt64BE(2))
      rest = rest.subarray(headLength)
    }
    this.#head = rest
    return frames
  }
}

async function open(url: URL): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname).setNoDelay()
  const key = randomBytes(16).toString('base64')
  socket.write(
    `GET ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\nupgrade: websocket\r\nconnection: upgrade\r\n` +
      `sec-websocket-key: ${key}\r\nsec-websocket-version: 13\r\n\r\n`,
  )
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`answered ${head}`)
  return socket
}

/** Each connection sends its next message when it has all answers to the one before. */
export const sendByWebSocket: Sender = async (request, body, answered) => {
  const { connections, seconds, amount = Infinity, live = { isText: true, answers: 1 } } = request
  const url = new URL(request.url)
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(url)))
  const frame = frameOf(body, live.isText)
  const endMs = amount === Infinity ? performance.now() + seconds * 1000 : Infinity
  let sent = 0
  let requests = 0
  let errors = 0
  const run = (socket: Socket) =>
    new Promise<void>((resolve) => {
      const counter = new FrameCounter()
      let startMs = 0
      let waiting = 0
      const send = () => {
        if (sent >= amount || performance.now() >= endMs) {
          resolve()
          return
        }
        sent++
        startMs = performance.now()
        waiting = live.answers
        socket.write(frame)
      }
      socket.on('data', (bytes: Buffer) => {
        waiting -= counter.count(bytes)
        if (waiting > 0) return
        requests++
        answered(performance.now() - startMs)
        send()
      })
      socket.once('close', () => {
        if (waiting > 0) errors++
        resolve()
      })
      send()
    })
  await Promise.all(sockets.map(run))
  for (const socket of sockets) socket.destroy()
  return { requests, errors }
}
