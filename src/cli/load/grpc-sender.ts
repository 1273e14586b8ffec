/**
 * Unary calls of gRPC by node:http2, whose messages are the bodies.
 * @see gRPC's PROTOCOL-HTTP2.md.
 * @module
 */
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { answerWithin, faultOf, type Sender, type SenderFlags } from './sender.ts'

/** Calls of one HTTP/2 connection; servers allow that many at least. */
const callsOfConnection = 100
const prefixBytes = 5

/** @returns what calls the method of a `grpc:` or `grpcs:` URL, such as `grpc://host:9000/a.Service/Method`. */
export function grpcSender(url: URL, { header, connections, timeout }: SenderFlags): Sender {
  const origin = url.href.replace(/^grpc/, 'http')
  const count = Math.ceil(connections / callsOfConnection)
  const sessions: ClientHttp2Session[] = []
  let turn = 0
  const nextSession = (): ClientHttp2Session => {
    turn = (turn + 1) % count
    const { [turn]: open } = sessions
    if (open !== undefined && !open.closed && !open.destroyed) return open
    const session = connect(origin)
    // Each call has the error, too.
    session.on('error', () => {})
    sessions[turn] = session
    return session
  }
  const sent = {
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: url.pathname,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...header,
  }
  return {
    send: ({ body }) =>
      answerWithin(timeout, (settle) => {
        const stream = nextSession().request(sent)
        const status: NodeJS.Dict<unknown> = {}
        const pieces: Buffer[] = []
        const read = (fields: object) => Object.assign(status, fields)
        stream.on('response', read).on('trailers', read)
        stream.on('data', (piece) => pieces.push(piece))
        stream.on('error', (error) => settle(faultOf(error)))
        stream.on('close', () => {
          const { 'grpc-status': code = 'missing', 'grpc-status-details-bin': details } = status
          const fault = code === '0' ? undefined : `grpc-status ${code}`
          settle({ fault, details, body: Buffer.concat(pieces).subarray(prefixBytes) })
        })
        stream.end(framed(body ?? new Uint8Array(0)))
        return () => stream.close(constants.NGHTTP2_CANCEL)
      }),
    close: () => {
      for (const session of sessions) session?.destroy()
    },
  }
}

/** An uncompressed message with its prefix. */
function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}
