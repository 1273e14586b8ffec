/** What all calls of the Connect protocol have in common: their headers, and their errors. @module */

import type { Host } from '../api/protocol.ts'
import { BadInput, grpcStatuses, ServingError } from '../core/errors.ts'
import type { RequestHeaders } from '../http/message.ts'
import { errorInfoType, rpcErrorOf } from '../messages/rpc-error.ts'

/** The part of a server that Connect needs. */
export type ConnectHost = Pick<Host, 'methods' | 'prefix' | 'unready' | 'logLate'>

/** @returns an error as Connect writes it, and its status of HTTP. */
export function errorOf(error: ServingError, requestId: string) {
  const { status, message, info } = rpcErrorOf(error, requestId)
  const value = Buffer.from(info).toString('base64').replace(/=+$/, '')
  const code = status === 'CANCELLED' ? 'canceled' : status.toLowerCase()
  const body = { code, message, details: [{ type: errorInfoType, value }] }
  return { http: grpcStatuses[status].http, body }
}

const isTimeout = /^\d{1,10}$/

/**
 * **Units**: milliseconds from now.
 *
 * @returns the client's deadline; undefined without one.
 */
export function connectTimeout(headers: RequestHeaders): number | undefined {
  const value = headers.get('connect-timeout-ms')
  return value !== undefined && isTimeout.test(value) ? Number(value) : undefined
}

/** @returns why a request is refused. `encodingName`: the header of the encoding of messages. */
export function headerFault(
  headers: RequestHeaders,
  encodingName: string,
): ServingError | undefined {
  const encoding = headers.get(encodingName) ?? 'identity'
  if (encoding !== 'identity') {
    const message = `expected ${encodingName} identity, received ${JSON.stringify(encoding.slice(0, 80))}`
    return new ServingError(
      'unsupported_media_type',
      message,
      { reason: 'encoding' },
      { grpc: 'UNIMPLEMENTED' },
    )
  }
  const wrong = (name: string, what: string, isRight: RegExp) => {
    const value = headers.get(name)
    if (value === undefined || isRight.test(value)) return undefined
    return new BadInput(`expected ${name} ${what}, received ${JSON.stringify(value.slice(0, 80))}`)
  }
  return (
    wrong('connect-protocol-version', '1', /^1$/) ??
    wrong('connect-timeout-ms', 'of at most 10 digits', isTimeout)
  )
}
