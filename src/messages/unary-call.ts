/**
 * A unary call of gRPC, as clients make it.
 *
 * @see gRPC's PROTOCOL-HTTP2.md.
 * @module
 */
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2'
import { type EncodedMessage, frameOf } from './encoded-message.ts'
import { type MessageFault, UnaryMessage } from './unary-message.ts'

/** What came. */
export interface UnaryAnswer {
  /** Headers and trailers, of which `grpc-status` is there. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: Buffer | undefined
  /** Why the message is broken. */
  readonly fault: MessageFault | undefined
}

/**
 * @param headers - Further ones.
 * @param signal - Ends the call early.
 * @throws why there is no status.
 */
export function callUnary(
  session: ClientHttp2Session,
  path: string,
  message: EncodedMessage,
  headers: OutgoingHttpHeaders | undefined,
  signal?: AbortSignal,
): Promise<UnaryAnswer> {
  const head = { ':method': 'POST', ':path': path, te: 'trailers' }
  return new Promise((resolve, reject) => {
    const fields: Record<string, unknown> = {}
    const read = (lines: object) => Object.assign(fields, lines)
    const answer = new UnaryMessage(Number.POSITIVE_INFINITY)
    let fault: MessageFault | undefined
    let failure = new Error('grpc-status missing')
    const stream = session.request(
      { ...head, 'content-type': 'application/grpc', ...headers },
      { signal },
    )
    stream.on('response', read).on('trailers', read)
    stream.on('data', (piece) => {
      fault ??= answer.take(piece)
    })
    stream.on('error', (error) => {
      failure = error
    })
    stream.on('close', () => {
      if (fields['grpc-status'] === undefined) reject(failure)
      else resolve({ fields, message: answer.bytes, fault })
    })
    stream.end(frameOf(message))
  })
}
