/** Who answers the messages of a call of gRPC, and how calls fail. @module */

import type { OutgoingHttpHeaders } from 'node:http2'
import { grpcStatuses, type ServingError } from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'
import { rpcErrorOf } from '../messages/rpc-error.ts'
import type { MessageFault } from '../messages/unary-message.ts'

/** How a call failed. */
export interface Status extends MessageFault {
  readonly metadata?: OutgoingHttpHeaders
}

/** Answers one message of a call. */
export interface Answerer {
  /** Why the message will be refused, as far as that is known before it has come. */
  readonly refusal: MaybePromise<Status | undefined>
  /** Reserves memory for a large message that comes, until its end; returns false if there is too little. */
  reserveUpTo?(bytes: number): boolean
  /** Called with the whole message, unless it was refused. The messages of a call come one after the other. */
  run(message: Uint8Array): MaybePromise<void>
  /** Ends what cannot be received; returns the status. */
  fail(error: ServingError): Status
  cancel(): void
  /** If set, all messages of the call come to this answerer, which ends the call. Called behind the last one. */
  ended?(): void
}

/** @returns the status of an error that no call has recorded. */
export function statusOf(error: ServingError): Status {
  const { status, message } = rpcErrorOf(error, '')
  return { code: grpcStatuses[status].number, details: message }
}
