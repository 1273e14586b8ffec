/** The headers of a request on node:http. @module */
import type { IncomingMessage } from 'node:http'
import { BadInput, expected, type ServingError } from '../../core/errors.ts'
import type { RequestHeaders } from '../../http/message.ts'

/** Returns why a request is refused for its headers, or undefined. */
export function headFault({ headers, rawHeaders }: IncomingMessage): ServingError | undefined {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (isHostName(rawHeaders[i])) hosts++
  if (hosts > 1) return new BadInput('expected host once, received it twice')
  if (headers['transfer-encoding'] !== '') return undefined
  return new BadInput(expected('chunked', 'transfer-encoding', ''), { reason: 'encoding' })
}

function isHostName(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === 'host'
}

/** The headers of a request. */
export class NodeHeaders implements RequestHeaders {
  readonly #req: IncomingMessage

  constructor(req: IncomingMessage) {
    this.#req = req
  }

  get(name: string): string | undefined {
    const value = Object.hasOwn(this.#req.headers, name) ? this.#req.headers[name] : undefined
    return value === undefined || value === '' ? undefined : String(value)
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, string]> {
    const { rawHeaders } = this.#req
    for (let i = 0; i < rawHeaders.length; i += 2) yield [rawHeaders[i].toLowerCase(), rawHeaders[i + 1]]
  }
}
