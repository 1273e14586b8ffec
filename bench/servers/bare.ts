/**
 * The limit: uWebSockets.js echoing the bytes, with nothing between.
 * @module
 */
import { App, us_socket_local_port } from 'uWebSockets.js'
import { listening } from './listening.ts'

App()
  .post('/*', (res, req) => {
    const type = req.getHeader('content-type')
    const length = Number(req.getHeader('content-length'))
    let body: Uint8Array | undefined
    let filled = 0
    res.onAborted(() => {})
    res.onData((chunk, isLast) => {
      if (isLast && body === undefined) {
        res.writeHeader('content-type', type).end(chunk)
        return
      }
      body ??= new Uint8Array(length)
      body.set(new Uint8Array(chunk), filled)
      filled += chunk.byteLength
      if (isLast) res.writeHeader('content-type', type).end(body)
    })
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket === false) throw new Error('could not listen')
    listening(us_socket_local_port(socket))
  })
