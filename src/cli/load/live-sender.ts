/** Load over live streams: messages on WebSockets, each answered by one. @module */
import { InvalidArgument } from '../../core/errors.ts'
import type { Answer } from './open-loop.ts'
import { type Body, faultOf, rightAnswer, type Sender, type SenderOptions } from './sender.ts'

/** One connection, and the messages that wait for their answers, oldest first. */
interface Connection {
  readonly socket: WebSocket
  readonly opened: Promise<void>
  readonly waiting: ((answer: Answer) => void)[]
}

/** @returns what sends messages on WebSockets in turn. */
export function liveSender(url: URL, { connections, timeoutMs }: SenderOptions): Sender {
  if (globalThis.WebSocket === undefined)
    throw new InvalidArgument('load on live streams needs Node 22 or later, which has WebSocket')
  const pool: (Connection | undefined)[] = Array.from({ length: connections })
  let turn = 0
  const nextConnection = (): Connection => {
    turn = (turn + 1) % connections
    const { [turn]: open } = pool
    if (open !== undefined && open.socket.readyState <= WebSocket.OPEN) return open
    const connection = connect(url)
    pool[turn] = connection
    return connection
  }
  return {
    async send(body) {
      const { socket, opened, waiting } = nextConnection()
      await opened
      if (socket.readyState !== WebSocket.OPEN) return faultOf('closed')
      return await new Promise<Answer>((resolve) => {
        // An answer that comes later would count for the next message: the connection ends.
        const timer = setTimeout(() => {
          resolve(faultOf('timeout'))
          socket.close()
        }, timeoutMs)
        waiting.push((answer) => {
          clearTimeout(timer)
          resolve(answer)
        })
        socket.send(messageOf(body))
      })
    },
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
    socket.addEventListener('close', () => resolve())
  })
  socket.addEventListener('message', () => waiting.shift()?.(rightAnswer))
  socket.addEventListener('close', ({ code }) => {
    for (const answer of waiting.splice(0)) answer(faultOf(`closed ${code}`))
  })
  return { socket, opened, waiting }
}

const isText = (contentType: string) => /^text\/|[/+]json\b/.test(contentType)

function messageOf({ bytes, contentType }: Body): string | Uint8Array<ArrayBuffer> {
  return isText(contentType) ? bytes.toString() : Uint8Array.from(bytes)
}
