/**
 * Load over gRPC by node:http2: unary calls whose messages are the bodies.
 * @see gRPC's PROTOCOL-HTTP2.md.
 * @module
 */
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import type { Answer } from './open-loop.ts'
import {
  type Body,
  faultOf,
  faultOfError,
  rightAnswer,
  type Sender,
  type SenderOptions,
} from './sender.ts'

const { HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, NGHTTP2_CANCEL } = constants

/** Calls of one HTTP/2 connection; servers allow that many at least. */
const callsOfConnection = 100
const prefixBytes = 5

/** @returns what calls the method of a `grpc:` or `grpcs:` URL, such as `grpc://host:9000/a.Service/Method`. */
export function grpcSender(
  url: URL,
  { headers, connections, timeoutMs, keepsAnswers = false }: SenderOptions,
): Sender {
  const scheme = url.protocol === 'grpcs:' ? 'https' : 'http'
  const sessions: (ClientHttp2Session | undefined)[] = Array.from({
    length: Math.ceil(connections / callsOfConnection),
  })
  let turn = 0
  const nextSession = (): ClientHttp2Session => {
    turn = (turn + 1) % sessions.length
    const open = sessions[turn]
    if (open !== undefined && !open.closed && !open.destroyed) return open
    const session = connect(`${scheme}://${url.host}`)
    // Each call has the error, too.
    session.on('error', () => {})
    sessions[turn] = session
    return session
  }
  const sent = {
    [HTTP2_HEADER_METHOD]: 'POST',
    [HTTP2_HEADER_PATH]: url.pathname,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  }
  return {
    send: (body) =>
      new Promise<Answer>((resolve) => {
        const stream = nextSession().request(sent)
        const timer = setTimeout(() => {
          resolve(faultOf('timeout'))
          stream.close(NGHTTP2_CANCEL)
        }, timeoutMs)
        let status: unknown
        let details: unknown
        const pieces: Buffer[] = []
        const readStatus = (fields: NodeJS.Dict<unknown>) => {
          status = fields['grpc-status'] ?? status
          details = fields['grpc-status-details-bin'] ?? details
        }
        stream.on('response', readStatus)
        stream.on('trailers', readStatus)
        stream.on('error', (error) => resolve(faultOfError(error)))
        stream.on('close', () => {
          clearTimeout(timer)
          const fault = faultOf(`grpc-status ${status ?? 'missing'}`)
          const message = Buffer.concat(pieces).subarray(prefixBytes)
          resolve(status === '0' ? { ...rightAnswer, message } : { ...fault, details })
        })
        if (keepsAnswers) stream.on('data', (piece: Buffer) => pieces.push(piece))
        else stream.resume()
        stream.end(framed(body))
      }),
    close: () => {
      for (const session of sessions) session?.destroy()
    },
  }
}

/** An uncompressed message with its prefix. */
function framed({ bytes }: Body): Buffer {
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}
