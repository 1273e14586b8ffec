/** Messages on WebSockets, each answered by one. @module */
import { InvalidArgument } from '../../core/errors.ts'
import { type Answer, answerWithin, type Sender, type SenderOptions } from './sender.ts'

/** A connection, and what waits for its answers, oldest first. */
interface Connection {
  readonly socket: WebSocket
  readonly opened: Promise<void>
  readonly waiting: ((answer: Answer) => void)[]
}

/** @returns what sends messages on WebSockets in turn. */
export function liveSender(url: URL, { connections, timeoutMs }: SenderOptions): Sender {
  if (globalThis.WebSocket === undefined)
    throw new InvalidArgument('load on live streams needs Node 22 or later, which has WebSocket')
  const pool: Connection[] = []
  let turn = 0
  const nextConnection = (): Connection => {
    turn = (turn + 1) % connections
    const { [turn]: open } = pool
    if (open !== undefined && open.socket.readyState <= WebSocket.OPEN) return open
    pool[turn] = connect(url)
    return pool[turn]
  }
  return {
    send: ({ headers = {}, body = new Uint8Array(0) }) =>
      answerWithin(timeoutMs, (settle) => {
        const { socket, opened, waiting } = nextConnection()
        const isText = /^text\/|[/+]json\b/.test(headers['content-type'])
        const message = isText ? Buffer.from(body).toString() : Uint8Array.from(body)
        opened.then(() => {
          if (socket.readyState !== WebSocket.OPEN) return settle({ fault: 'closed' })
          waiting.push(settle)
          socket.send(message)
        })
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
  const opened = new Promise<void>((resolve) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('close', ({ code }) => {
      resolve()
      for (const settle of waiting.splice(0)) settle({ fault: `closed ${code}` })
    })
  })
  socket.addEventListener('message', () => waiting.shift()?.({}))
  return { socket, opened, waiting }
}
