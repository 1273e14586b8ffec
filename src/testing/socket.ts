import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
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
  try {
    const lines = Object.entries(wire.headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const length = `content-length: ${wire.body.length}\r\n`
    const head = `POST /take HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${lines.join('')}${length}\r\n`
    const step = Math.max(1, Math.ceil(wire.body.length / maxSplits))
    for (let at = 0; at <= wire.body.length; at += step) {
      const socket = connect(listener.port, '127.0.0.1').setNoDelay(true)
      await write(socket, Buffer.concat([Buffer.from(head), wire.body.subarray(0, at)]))
      await write(socket, wire.body.subarray(at))
      const answer = await text(socket)
      if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`split at byte ${at}: ${answer}`)
      if (failures.length > 0) throw failures[0]
    }
  } finally {
    await listener.close()
  }
}

async function write(socket: Socket, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => socket.write(bytes, () => setImmediate(resolve)))
}
