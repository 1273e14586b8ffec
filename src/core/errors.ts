/** The error tree and the one table that drives classes, status codes and docs/reference/errors.md. @module */

/**
 * Every error code with its HTTP status, gRPC status and meaning. Closed list: codes are never added at run time
 * (an application's own subclass may carry its own status, see {@link ServingError}).
 */
export const errorTable = {
  bad_input: { status: 400, grpc: 'INVALID_ARGUMENT', meaning: 'The request does not fit the input descriptor.' },
  unsupported_media_type: {
    status: 415,
    grpc: 'INVALID_ARGUMENT',
    meaning: 'The input descriptor does not read this Content-Type.',
  },
  payload_too_large: { status: 413, grpc: 'RESOURCE_EXHAUSTED', meaning: 'The body is larger than `maxBodyBytes`.' },
  unauthorized: {
    status: 401,
    grpc: 'UNAUTHENTICATED',
    meaning: 'The caller is not known; see the `www-authenticate` header.',
  },
  forbidden: { status: 403, grpc: 'PERMISSION_DENIED', meaning: 'The caller is known and not allowed.' },
  not_found: {
    status: 404,
    grpc: 'NOT_FOUND',
    meaning: 'No API has this path, or the function found nothing by that name.',
  },
  method_not_allowed: {
    status: 405,
    grpc: 'UNIMPLEMENTED',
    meaning: 'The path exists, the method does not; see the `allow` header.',
  },
  conflict: { status: 409, grpc: 'ABORTED', meaning: 'The current state of the resource does not allow it.' },
  too_many_requests: {
    status: 429,
    grpc: 'RESOURCE_EXHAUSTED',
    meaning: 'The caller sent more than its share; see `retry-after`.',
  },
  overloaded: {
    status: 503,
    grpc: 'UNAVAILABLE',
    meaning: 'Too many requests in flight, or the server is draining; see `retry-after`.',
  },
  deadline_exceeded: {
    status: 504,
    grpc: 'DEADLINE_EXCEEDED',
    meaning: 'The function did not answer before the request deadline.',
  },
  insufficient_storage: {
    status: 507,
    grpc: 'RESOURCE_EXHAUSTED',
    meaning: 'The disk for large uploads is full.',
  },
  client_closed: { status: 499, grpc: 'CANCELLED', meaning: 'The client went away; nobody receives this answer.' },
  bad_output: {
    status: 500,
    grpc: 'INTERNAL',
    meaning: 'The function returned what its output descriptor cannot encode.',
  },
  function_error: { status: 500, grpc: 'INTERNAL', meaning: 'The function threw. The message is logged, not sent.' },
  internal: { status: 500, grpc: 'INTERNAL', meaning: 'A fault of a descriptor or of the framework itself.' },
  invalid_argument: {
    status: 500,
    grpc: 'INTERNAL',
    meaning: 'Set-up: an option or a name is wrong. Thrown to the developer.',
  },
  value_error: {
    status: 500,
    grpc: 'INTERNAL',
    meaning: 'Set-up: a value could not be worked out from a sample. Thrown to the developer.',
  },
  missing_dependency: {
    status: 500,
    grpc: 'INTERNAL',
    meaning: 'Set-up: an optional package is not installed. Thrown to the developer.',
  },
} as const satisfies Record<string, { status: number; grpc: GrpcStatusName; meaning: string }>

/** A code of {@link errorTable}. */
export type ErrorCode = keyof typeof errorTable

/** Names of the gRPC status codes in use. Source: gRPC core, status codes. */
export type GrpcStatusName =
  | 'CANCELLED'
  | 'UNKNOWN'
  | 'INVALID_ARGUMENT'
  | 'DEADLINE_EXCEEDED'
  | 'NOT_FOUND'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'UNIMPLEMENTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'UNAUTHENTICATED'

/** All values of `reason`. */
export const badInputReasons = [
  'syntax',
  'ragged',
  'dtype',
  'shape',
  'columns',
  'schema',
  'part',
  'encoding',
  'media-type',
  'size',
] as const

/** What about the input is wrong, sent as `reason`. */
export type BadInputReason = (typeof badInputReasons)[number]

/** One thing that a schema finds wrong. */
export interface InputIssue {
  /** Place in the input: `user.tags[1]`; empty for the whole. */
  readonly path: string
  readonly message: string
}

/** Where and why; all optional. */
export interface ErrorDetails {
  /** Machine-readable kind within the code. */
  readonly reason?: BadInputReason
  /** Place in the input as a path: `[2][0]`, `user.name`, a part's name. */
  readonly path?: string
  /** Place in the body. **Units**: bytes from its start. */
  readonly offset?: number
  /** All that a schema finds wrong, sent as `errors`; `path` is the first one's. */
  readonly issues?: readonly InputIssue[]
  /** What was caught; logged, never sent. */
  readonly cause?: unknown
  /** **Units**: whole seconds, sent as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** Methods that the path has, sent as `Allow`. */
  readonly allow?: string
  /** Which limit refused the request; counted, never sent. */
  readonly limit?: string
  /** How a caller makes itself known, sent as `WWW-Authenticate`: `Bearer realm="models"`. */
  readonly challenge?: string
}

/** Overrides for an application's own subclass. */
export interface OwnStatus {
  /** Own code, sent as `code`. */
  readonly code?: string
  /** **Units**: HTTP status, 400 to 599. */
  readonly status?: number
  readonly grpc?: GrpcStatusName
}

const brand = Symbol.for('serving.ServingError')

/**
 * The root of all errors that the framework throws or answers with. An application may subclass it with a status of its
 * own; the status and, below 500, the message reach the client.
 *
 * **Example**
 * ```ts
 * class Teapot extends ServingError {
 *   constructor(message: string) { super('function_error', message, {}, { code: 'teapot', status: 418 }) }
 * }
 * ```
 */
export class ServingError extends Error {
  readonly code: string
  readonly status: number
  readonly grpc: GrpcStatusName
  readonly reason?: BadInputReason
  readonly path?: string
  readonly offset?: number
  readonly issues?: readonly InputIssue[]
  readonly retryAfterSeconds?: number
  readonly allow?: string
  readonly challenge?: string
  readonly limit?: string
  // A registry symbol, not instanceof alone: two copies of the package in one process must agree.
  readonly [brand] = true

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, own: OwnStatus = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = new.target.name
    const row = errorTable[code]
    this.code = own.code ?? code
    // A status that is none of an error would tell the client that all went well.
    const { status = row.status } = own
    this.status = Number.isInteger(status) && status >= 400 && status <= 599 ? status : row.status
    this.grpc = own.grpc ?? row.grpc
    if (details.reason !== undefined) this.reason = details.reason
    if (details.path !== undefined) this.path = details.path
    if (details.offset !== undefined) this.offset = details.offset
    if (details.issues !== undefined) this.issues = details.issues
    if (details.retryAfterSeconds !== undefined) this.retryAfterSeconds = details.retryAfterSeconds
    if (details.allow !== undefined) this.allow = details.allow
    if (details.challenge !== undefined) this.challenge = details.challenge
    if (details.limit !== undefined) this.limit = details.limit
  }

  /** Whether `value` is a ServingError, of this or of another loaded copy of the package. */
  static is(value: unknown): value is ServingError {
    return typeof value === 'object' && value !== null && brand in value
  }
}

/**
 * Returns a class for one row of the table, with its constructor: `(message, details?)`, and for subclasses a status of
 * their own.
 */
function errorClass(code: ErrorCode, defaults?: ErrorDetails, Base: typeof ServingError = ServingError) {
  return class extends Base {
    constructor(message: string, details?: ErrorDetails, own?: OwnStatus) {
      super(code, message, defaults === undefined ? details : { ...defaults, ...details }, own)
    }
  }
}

/** The request does not fit the descriptor: 400 with a reason and a place. */
export class BadInput extends errorClass('bad_input') {}

/** The Content-Type is none that the descriptor reads: 415. */
export class UnsupportedMediaType extends BadInput {
  constructor(message: string, details?: ErrorDetails) {
    super(message, { reason: 'media-type', ...details }, rowOf('unsupported_media_type'))
  }
}

/** The body or a part is above its limit: 413. */
export class PayloadTooLarge extends BadInput {
  constructor(message: string, details?: ErrorDetails) {
    super(message, { reason: 'size', ...details }, rowOf('payload_too_large'))
  }
}

function rowOf(code: ErrorCode): OwnStatus {
  return { code, ...errorTable[code] }
}

/** The caller is not known: 401 with `www-authenticate`, `Bearer` unless told otherwise. For hooks and functions. */
export class Unauthorized extends errorClass('unauthorized', { challenge: 'Bearer' }) {}

/** The caller is known and not allowed: 403. For hooks and functions to throw. */
export class Forbidden extends errorClass('forbidden') {}

/** The state of what is asked for does not allow it: 409. For functions to throw. */
export class Conflict extends errorClass('conflict') {}

/** The caller sent more than its share: 429 with `retry-after`, one second unless told otherwise. */
export class TooManyRequests extends errorClass('too_many_requests', { retryAfterSeconds: 1 }) {}

/** Nothing is registered under the path: 404. */
export class NotFound extends errorClass('not_found') {}

/** The path is there, the method is not: 405 with `allow`. */
export class MethodNotAllowed extends errorClass('method_not_allowed') {}

/** No room for another request: 503 with `retry-after`, one second unless told otherwise. */
export class Overloaded extends errorClass('overloaded', { retryAfterSeconds: 1 }) {}

/** No answer before the deadline: 504. */
export class DeadlineExceeded extends errorClass('deadline_exceeded') {}

/** The disk that holds large uploads while they are received is full: 507. */
export class InsufficientStorage extends errorClass('insufficient_storage') {}

/** The client closed the connection; the reason of the context's AbortSignal. */
export class ClientClosed extends errorClass('client_closed') {
  constructor(message = 'the client closed the connection', details?: ErrorDetails) {
    super(message, details)
  }
}

/** The function returned what its output descriptor cannot encode: 500, detail logged only. */
export class BadOutput extends errorClass('bad_output') {}

/** The function threw something that is no ServingError: 500, `cause` logged only. */
export class FunctionError extends errorClass('function_error') {}

/** A fault of ours or of a custom descriptor: 500, `cause` logged only. */
export class InternalError extends errorClass('internal') {}

/** Mistakes of the developer who sets a service up; thrown before the first request. */
export class SetupError extends ServingError {}

/** A wrong, unknown or contradictory option or name. */
export class InvalidArgument extends errorClass('invalid_argument', undefined, SetupError) {}

/** A value that cannot be worked out. **Source**: SPEC "Errors", `File.from_sample`. */
export class ValueError extends errorClass('value_error', undefined, SetupError) {}

/** An optional package is missing; the message holds the install command. */
export class MissingDependencyException extends errorClass('missing_dependency', undefined, SetupError) {}

/**
 * Whether the client is told message, reason and place: below status 500, and for the states above that it should know
 * about, whose messages are ours.
 */
export function tellsDetail({ status, code }: ServingError): boolean {
  return status < 500 || ['overloaded', 'deadline_exceeded', 'insufficient_storage'].includes(code)
}

/** Returns the gRPC status of what ended a call; OK for undefined. */
export function grpcStatusOf(error: Error | undefined): GrpcStatusName | 'OK' {
  return error === undefined ? 'OK' : ServingError.is(error) ? error.grpc : 'INTERNAL'
}

/** Returns a received value for a message: at most 80 characters, no line breaks or control characters. */
export function show(value: unknown): string {
  let text: string
  try {
    text = typeof value === 'string' ? JSON.stringify(value) : (render(value) ?? String(value))
  } catch {
    text = Object.prototype.toString.call(value)
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those must not reach a log or a header
  text = text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ')
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

function render(value: unknown): string | undefined {
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`
  if (typeof value === 'bigint') return `${value}n`
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.byteLength} bytes)`
  return JSON.stringify(value)
}

/** Returns the message grammar of the whole project: expected WHAT for NAME, received VALUE. */
export function expected(what: string, name: string, received: unknown): string {
  return `expected ${what} for ${name}, received ${show(received)}`
}

/** Returns the messages of the causes that say more than what stands before them, each behind a colon. */
export function causesOf(error: Error): string {
  let said = error.message
  const seen = new Set<unknown>([error])
  for (let { cause } = error; cause instanceof Error && !seen.has(cause); cause = cause.cause) {
    seen.add(cause)
    if (!said.includes(cause.message)) said += `: ${cause.message}`
  }
  return said.slice(error.message.length)
}
