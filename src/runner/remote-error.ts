/** Errors between threads and processes: a structured clone would lose their class, code and status. @module */
import * as errors from '../core/errors.ts'
import { type ErrorDetails, type GrpcStatusName, ServingError } from '../core/errors.ts'

/** An error as plain data, which can be cloned. */
export interface ErrorFields {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly cause?: ErrorFields
  readonly serving?: ErrorDetails & {
    readonly code: string
    readonly status: number
    readonly grpc: GrpcStatusName
  }
}

const maxCauses = 5

/** Converts a thrown value into plain data. */
export function errorFields(error: unknown, depth = 0): ErrorFields {
  if (!(error instanceof Error)) return { name: 'Error', message: errors.show(error) }
  const { name, message, stack } = error
  return {
    name: String(name),
    message: String(message),
    ...(typeof stack === 'string' && { stack }),
    ...(error.cause !== undefined &&
      depth < maxCauses && { cause: errorFields(error.cause, depth + 1) }),
    ...(ServingError.is(error) && { serving: servingFields(error) }),
  }
}

function servingFields(error: ServingError): ErrorFields['serving'] {
  const { code, status, grpc, reason, path, offset, retryAfterSeconds, allow } = error
  return { code, status, grpc, reason, path, offset, retryAfterSeconds, allow }
}

/** Our errors keep class, code, status and details; an application's subclass comes as a ServingError. */
export function errorFromFields(fields: ErrorFields): Error {
  const cause = fields.cause === undefined ? undefined : errorFromFields(fields.cause)
  const error =
    fields.serving === undefined
      ? new Error(fields.message, { cause })
      : servingError(fields, cause)
  if (error.name !== fields.name) error.name = fields.name
  if (fields.stack !== undefined) error.stack = fields.stack
  return error
}

type OwnClass = new (message: string, details?: ErrorDetails) => ServingError

function servingError(
  { name, message, serving }: ErrorFields,
  cause: Error | undefined,
): ServingError {
  const { code, status, grpc, ...given } = serving as NonNullable<ErrorFields['serving']>
  const details = { ...given, cause }
  const known = (errors as Readonly<Record<string, unknown>>)[name]
  const isOwn =
    typeof known === 'function' && known.prototype instanceof ServingError && name !== 'SetupError'
  if (isOwn) {
    const error = new (known as OwnClass)(message, details)
    if (error.code === code && error.status === status) return error
  }
  return new ServingError('function_error', message, details, { code, status, grpc })
}
