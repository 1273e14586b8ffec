import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocketServer } from 'ws'
import { openSender } from '../../../../src/cli/load/senders.ts'

const body = Buffer.from('x')

/** Opens a sender to a server on a free port. */
async function senderTo(server: Server, scheme: string, timeout = 0.05) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = new URL(`${scheme}://127.0.0.1:${port}/a.Service/Method`)
  const sender = openSender(url, { connections: 1, timeout })
  onTestFinished(() => {
    sender.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return sender
}

describe('a request without an answer has failed after --timeout', () => {
  it('over HTTP, also where it waits for the connection', async () => {
    const sender = await senderTo(createServer(), 'http')
    const answers = [sender.send({ body }), sender.send({ body })]
    expect(await Promise.all(answers)).toEqual([{ fault: 'timeout' }, { fault: 'timeout' }])
  })

  it('over gRPC', async () => {
    let cancelled: number | undefined
    const server = createHttp2Server()
    server.on('stream', (stream) => {
      stream.on('error', () => {})
      stream.on('close', () => {
        cancelled = stream.rstCode
      })
    })
    const sender = await senderTo(server, 'grpc')
    expect(await sender.send({ body })).toEqual({ fault: 'timeout' })
    await expect.poll(() => cancelled).toBe(8)
  })

  it('over a live stream, whose late answer is not that of the next message', async () => {
    const server = createHttpServer()
    let count = 0
    new WebSocketServer({ server }).on('connection', (socket) => {
      socket.on('message', (message) => count++ > 0 && socket.send(message))
    })
    // Long enough for another connection on a busy machine.
    const sender = await senderTo(server, 'ws', 0.5)
    expect(await sender.send({ body })).toEqual({ fault: 'timeout' })
    expect(await sender.send({ body })).toEqual({})
  })
})

it('sends no more over gRPC than --connections at once', async () => {
  let [open, most] = [0, 0]
  const server = createHttp2Server()
  server.on('stream', (stream) => {
    open++
    most = Math.max(most, open)
    setTimeout(() => {
      open--
      stream.respond({ 'grpc-status': '0' }, { endStream: true })
    }, 5)
  })
  const sender = await senderTo(server, 'grpc', 30)
  const answers = await Promise.all(Array.from({ length: 5 }, () => sender.send({ body })))
  expect(answers).toMatchObject(Array(5).fill({ fault: undefined }))
  expect(most).toBe(1)
})
