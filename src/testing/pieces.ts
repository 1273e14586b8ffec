import type { IODescriptor } from '../descriptors/descriptor.ts'
import { Context } from '../http/context.ts'
import { HeaderList } from '../http/message.ts'

/** A request on the wire. */
export interface Wire {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Brings a request to a descriptor. `look` gets the value, while the function has it. */
export type Deliver = (
  descriptor: IODescriptor,
  wire: Wire,
  look: (value: unknown) => void,
) => Promise<void>

/** Writes a body to a descriptor's receiver in pieces, each overwritten after the call; `look` gets the value. */
export async function receiveInPieces<In>(
  descriptor: IODescriptor<In, never>,
  { headers, body }: Wire,
  pieceBytes: number,
  look: (value: In) => void,
): Promise<void> {
  const list = HeaderList.from(headers)
  const ctx = new Context({ headers: list })
  const receiver = descriptor.receive?.(list, ctx)
  if (receiver === undefined) return
  try {
    for (let at = 0; at < body.length; at += pieceBytes) {
      const piece = Uint8Array.from(body.subarray(at, at + pieceBytes))
      const busy = receiver.write(piece)
      piece.fill(0x58)
      await busy
    }
    look(await receiver.end())
  } catch (error) {
    receiver.abort(error as Error)
    throw error
  } finally {
    ctx.end()
  }
}

/**
 * @returns a form whose part `name` is a request, with all of its headers, after an empty part
 * `other`.
 */
export function asPart(name: string, { headers, body }: Wire, other: string): Wire {
  const boundary = 'boundary-of-the-laws'
  const names = Object.fromEntries(
    Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]),
  )
  const filename = /;\s*filename\*?=.*/i.exec(names['content-disposition'] ?? '')?.[0] ?? ''
  const lines = Object.entries(names)
    .filter(([key]) => key !== 'content-disposition' && key !== 'content-length')
    .map(([key, value]) => `${key}: ${value}\r\n`)
  const first = `--${boundary}\r\ncontent-disposition: form-data; name="${other}"\r\n\r\n\r\n`
  const disposition = `content-disposition: form-data; name="${name}"${filename}\r\n`
  const head = `${first}--${boundary}\r\n${disposition}${lines.join('')}\r\n`
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head), body, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  }
}
