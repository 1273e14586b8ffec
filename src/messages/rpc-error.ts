/** RPC errors: status code, message, and a google.rpc.ErrorInfo with the members of HTTP's problem bodies. @module */
import { type GrpcStatusName, grpcStatuses, type ServingError, tellsDetail } from '../core/errors.ts'
import { ProtoWriter, wireType } from './protobuf.ts'

/** **Source**: google/rpc/error_details.proto. */
export const errorInfoType = 'google.rpc.ErrorInfo'

/** An error for a client. */
export interface RpcError {
  readonly status: GrpcStatusName
  readonly message: string
  readonly info: Uint8Array
}

const messages: Partial<Record<string, string>> = {
  function_error: 'the function failed',
  bad_output: 'the function returned what its output descriptor cannot encode',
}

/** What a client may see: from status 500 on only code and request id, with the exceptions of `problemResponse`. */
export function rpcErrorOf(error: ServingError, requestId: string): RpcError {
  const isOpen = tellsDetail(error)
  const writer = new ProtoWriter(160)
  writer.text(1, error.code.toUpperCase())
  writer.text(2, 'serving')
  const entry = (key: string, value: string | undefined) => {
    if (value === undefined) return
    writer.message(3, () => {
      writer.text(1, key)
      writer.text(2, value)
    })
  }
  entry('requestId', requestId)
  if (isOpen) {
    entry('reason', error.reason)
    entry('path', error.path)
    entry('offset', error.offset?.toString())
  }
  entry('retryAfterSeconds', error.retryAfterSeconds?.toString())
  const message = isOpen ? error.message : (messages[error.code] ?? 'the server failed')
  return { status: error.grpc, message, info: writer.finish() }
}

/** Encodes a google.rpc.Status, for the metadata `grpc-status-details-bin`. */
export function encodeStatusDetails({ status, message, info }: RpcError): Uint8Array {
  const writer = new ProtoWriter(info.length + message.length + 80)
  writer.tag(1, wireType.varint).int32(grpcStatuses[status].number)
  writer.text(2, message)
  writer.message(3, () => {
    writer.text(1, `type.googleapis.com/${errorInfoType}`)
    writer.tag(2, wireType.bytes).bytes(info)
  })
  return writer.finish()
}
