/** RPC errors: status code, message, and a google.rpc.ErrorInfo with the members of HTTP's problem bodies. @module */
import { grpcStatuses, type ServingError, tellsDetail } from '../core/errors.ts'
import { bytes, count, string } from './field-types.ts'
import { messages, messageType } from './message-type.ts'

/** @see google/rpc/error_details.proto. */
export const errorInfoType = 'google.rpc.ErrorInfo'

const entry = messageType({ key: [1, string], value: [2, string] })
const errorInfo = messageType({
  reason: [1, string],
  domain: [2, string],
  metadata: [3, messages(entry, 100, 'entries')],
})
const detail = messageType({ type_url: [1, string], value: [2, bytes] })
const statusDetails = messageType({
  code: [1, count],
  message: [2, string],
  details: [3, messages(detail, 1, 'details')],
})

const texts: Partial<Record<string, string>> = {
  function_error: 'the function failed',
  bad_output: 'the function returned what its output descriptor cannot encode',
}

/** What a client may see: from status 500 on only code and request id, with the exceptions of `problemResponse`. */
export function rpcErrorOf(error: ServingError, requestId: string) {
  const { code, reason, path, offset, retryAfterSeconds } = error
  const isOpen = tellsDetail(error)
  const members = { requestId, ...(isOpen && { reason, path, offset }), retryAfterSeconds }
  const metadata = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: String(value) }))
  const info = errorInfo.encode({ reason: code.toUpperCase(), domain: 'serving', metadata })
  const message = isOpen ? error.message : (texts[code] ?? 'the server failed')
  return { status: error.grpc, message, info }
}

/** Encodes a google.rpc.Status, for the metadata `grpc-status-details-bin`. */
export function encodeStatusDetails({
  status,
  message,
  info,
}: ReturnType<typeof rpcErrorOf>): Uint8Array {
  const details = [{ type_url: `type.googleapis.com/${errorInfoType}`, value: info }]
  return statusDetails.encode({ code: grpcStatuses[status].number, message, details })
}

/** @returns the code of an error in the metadata `grpc-status-details-bin`. For clients. */
export function decodeErrorCode(base64: unknown): string | undefined {
  const { details = [] } = statusDetails.decode(Buffer.from(String(base64 ?? ''), 'base64'))
  const { value } = details[0] ?? {}
  return value && errorInfo.decode(value).reason?.toLowerCase()
}
