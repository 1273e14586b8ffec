import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { Text } from '../descriptors/text.ts'
import { serve } from '../server/listener.ts'
import { Service } from '../service.ts'
import type { Deliver, Wire } from './pieces.ts'

const maxSplits = 64

/** Sends a request in two pieces, for every place to split its body; `look` gets what the function receives. */
export const postInTwoPieces: Deliver = async (input, wire, look) => {
  const failures: unknown[] = []
  const service = new Service('split')
  service.api({ input, output: new Text(), name: 'take' }, (value: unknown) => {
    try {
      look(value)
    } catch (error) {
      failures.push(error)
    }
    return 'taken'
  })
  const listener = await serve(service, { port: 0, host: '127.0.0.1' })
  try {
    await sendSplit(listener.port, '/take', wire, () => {
      if (failures.length > 0) throw failures[0]
    })
  } finally {
    await listener.close()
  }
}

/** @returns places at which to split a body, at most 64 and its ends. */
export function splitsOf({ body }: Wire): readonly number[] {
  const step = Math.max(1, Math.ceil(body.length / maxSplits))
  return Array.from({ length: Math.floor(body.length / step) + 1 }, (_, i) => i * step)
}

/** Posts a request in two pieces, for each place to split its body. `check` is called after each. */
export async function sendSplit(
  port: number,
  path: string,
  wire: Wire,
  check: () => void,
): Promise<void> {
  const lines = Object.entries(wire.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = `content-length: ${wire.body.length}\r\n`
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${lines.join('')}${length}\r\n`
  for (const at of splitsOf(wire)) {
    const socket = connect(port, '127.0.0.1').setNoDelay(true)
    await write(socket, Buffer.concat([Buffer.from(head), wire.body.subarray(0, at)]))
    await write(socket, wire.body.subarray(at))
    const answer = await text(socket)
    if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`split at byte ${at}: ${answer}`)
    check()
  }
}

async function write(socket: Socket, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => socket.write(bytes, () => setImmediate(resolve)))
}
