/** A descriptor behind a real server, fed by a real socket. @module */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { AnyDescriptor, IODescriptor } from '../descriptors/descriptor.ts'
import { Text } from '../descriptors/text.ts'
import { serve } from '../server/listener.ts'
import { Service } from '../service.ts'

const maxSplits = 64

/** Sends a request in two pieces, for every place to split its body; `look` gets what the function receives. */
export async function postInTwoPieces<In, Out>(
  descriptor: IODescriptor<In, Out>,
  wire: { readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array },
  look: (value: In) => void,
): Promise<void> {
  const failures: unknown[] = []
  const service = new Service('split')
  service.api({ input: descriptor as unknown as AnyDescriptor, output: new Text(), name: 'take' }, (value: unknown) => {
    try {
      look(value as In)
    } catch (error) {
      failures.push(error)
    }
    return 'taken'
  })
  const listener = await serve(service, { port: 0, host: '127.0.0.1' })
  const socket = connect(listener.port, '127.0.0.1')
  socket.setNoDelay(true)
  try {
    await once(socket, 'connect')
    const lines = Object.entries(wire.headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const length = `content-length: ${wire.body.length}\r\n`
    const head = `POST /take HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}${length}\r\n`
    const step = Math.max(1, Math.ceil(wire.body.length / maxSplits))
    for (let at = 0; at <= wire.body.length; at += step) {
      const answer = nextResponse(socket)
      await write(socket, Buffer.concat([Buffer.from(head), wire.body.subarray(0, at)]))
      await write(socket, wire.body.subarray(at))
      const text = await answer
      if (!text.startsWith('HTTP/1.1 200')) throw new Error(`split at byte ${at}: ${text}`)
      if (failures.length > 0) throw failures[0]
    }
  } finally {
    socket.destroy()
    await listener.close()
  }
}

async function write(socket: Socket, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => socket.write(bytes, () => setImmediate(resolve)))
}

function nextResponse(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const settle = (finish: () => void) => {
      socket.off('data', onData).off('close', onClose)
      finish()
    }
    const onClose = () =>
      settle(() => reject(new Error(`the server closed the connection after ${JSON.stringify(text)}`)))
    const onData = (bytes: Buffer) => {
      text += bytes.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
      if (head !== -1 && text.length === head + 4 + Number(length)) settle(() => resolve(text))
    }
    socket.on('data', onData).on('close', onClose)
  })
}
