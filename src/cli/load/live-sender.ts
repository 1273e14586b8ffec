/** Messages on WebSockets, each answered by one. @module */
import { InvalidArgument } from '../../core/errors.ts'
import { type Answer, answerWithin, type Sender, type SenderFlags } from './sender.ts'

/** A connection, and what waits for its answers, oldest first. */
interface Connection {
  readonly socket: WebSocket
  readonly waiting: ((answer: Answer) => void)[]
}

/** @returns what sends messages on WebSockets in turn. */
export function liveSender(url: URL, { connections, timeout }: SenderFlags): Sender {
  if (globalThis.WebSocket === undefined)
    throw new InvalidArgument('load on live streams needs Node 22 or later, which has WebSocket')
  const pool: Connection[] = []
  let turn = 0
  return {
    send: ({ headers = {}, body = new Uint8Array(0) }) =>
      answerWithin(timeout, (settle) => {
        turn = (turn + 1) % connections
        if (!(pool[turn]?.socket.readyState <= WebSocket.OPEN)) pool[turn] = connect(url)
        const { socket, waiting } = pool[turn]
        const isText = /^text\/|[/+]json\b/.test(headers['content-type'])
        const message = isText ? Buffer.from(body).toString() : Uint8Array.from(body)
        waiting.push(settle)
        if (socket.readyState === WebSocket.OPEN) socket.send(message)
        else socket.addEventListener('open', () => socket.send(message))
        // An answer that comes later would count for the next message: the connection ends.
        return () => socket.close()
      }),
    close: () => {
      for (const connection of pool) connection?.socket.close()
    },
  }
}

function connect(url: URL): Connection {
  const socket = new WebSocket(url)
  const waiting: Connection['waiting'] = []
  socket.addEventListener('message', () => waiting.shift()?.({}))
  socket.addEventListener('close', ({ code }) => {
    for (const settle of waiting.splice(0)) settle({ fault: `closed ${code}` })
  })
  return { socket, waiting }
}
