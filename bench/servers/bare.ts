/**
 * The limit: uWebSockets.js taking the bytes and giving the right answer, without any work. BENCH_BARE is `echo`,
 * or the answer as JSON, whose bytes are in the file that BENCH_BODY names with `.answer`.
 * @module
 */

import type { HttpResponse } from 'uWebSockets.js-20.57'
import { readFileSync } from 'node:fs'
import { loadUws } from '../../src/engine/uws/uws-package.ts'
import { listening } from './listening.ts'

const loaded = loadUws()
if (typeof loaded === 'string') throw new Error(loaded)
const { App, us_socket_local_port } = loaded.uws

type Answer = (res: HttpResponse, body: Uint8Array | ArrayBuffer, type: string) => void

/** Returns the handler of every request, chosen once. */
function answerOf(text = 'echo'): Answer {
  if (text === 'echo')
    return (res, body, type) => void res.writeHeader('content-type', type).end(body)
  const { contentType, piece, pieces } = JSON.parse(text)
  if (piece === undefined) {
    const bytes = readFileSync(`${process.env.BENCH_BODY}.answer`)
    return (res) => void res.writeHeader('content-type', contentType).end(bytes)
  }
  return (res) => {
    res.writeHeader('content-type', contentType)
    for (let i = 0; i < pieces; i++) res.write(piece)
    res.end()
  }
}

const answer = answerOf(process.env.BENCH_BARE)

// Messages of WebSockets are answered by this many equal ones.
const answers = Number(process.env.BENCH_LIVE)

App()
  .ws('/*', {
    maxPayloadLength: 2 ** 21,
    maxBackpressure: 2 ** 24,
    message(socket, message, isBinary) {
      for (let i = 0; i < answers; i++) socket.send(message, isBinary)
    },
  })
  .post('/*', (res, req) => {
    const type = req.getHeader('content-type')
    const length = Number(req.getHeader('content-length'))
    let body: Uint8Array | undefined
    let filled = 0
    res.onAborted(() => {})
    res.onData((chunk, isLast) => {
      if (isLast && body === undefined) return answer(res, chunk, type)
      body ??= new Uint8Array(length)
      body.set(new Uint8Array(chunk), filled)
      filled += chunk.byteLength
      if (isLast) answer(res, body, type)
    })
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket === false) throw new Error('could not listen')
    listening(us_socket_local_port(socket))
  })
