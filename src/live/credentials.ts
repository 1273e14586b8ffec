import { HeaderList, type RequestHeaders } from '../http/message.ts'

const protocols = 'sec-websocket-protocol'
const carriers = { bearer: ['authorization', 'Bearer '], key: ['x-api-key', ''] } as const

/**
 * Browsers can set no headers of a WebSocket, so that clients offer credentials as subprotocols:
 * `serving.bearer.<token>` and `serving.key.<key>`, in base64url. Returns headers in which they stand where hooks look
 * for them, unless the client has sent such a header itself, and nowhere else. Called before hooks and the log.
 */
export function moveCredentials(headers: RequestHeaders): RequestHeaders {
  const offered = headers.get(protocols)?.split(',') ?? []
  const found = offered.map((each) => /^\s*serving\.(bearer|key)\.([\w-]+)\s*$/.exec(each))
  if (!found.some((each) => each !== null)) return headers
  const lines = [...headers].filter(([name]) => name !== protocols)
  lines.push([protocols, offered.filter((_, i) => found[i] === null).join(',')])
  for (const match of found) {
    if (match === null) continue
    const [name, prefix] = carriers[match[1] as keyof typeof carriers]
    const secret = Buffer.from(match[2], 'base64url').toString('latin1')
    if (headers.get(name) === undefined && /^[!-~]+$/.test(secret))
      lines.push([name, prefix + secret])
  }
  return HeaderList.of(lines)
}
