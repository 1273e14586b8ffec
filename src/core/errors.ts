/**
 * Status codes of gRPC with their numbers and HTTP statuses.
 *
 * @see gRPC core, statuscodes.md; Connect.
 */
export const grpcStatuses = {
  CANCELLED: { number: 1, http: 499 },
  UNKNOWN: { number: 2, http: 500 },
  INVALID_ARGUMENT: { number: 3, http: 400 },
  DEADLINE_EXCEEDED: { number: 4, http: 504 },
  NOT_FOUND: { number: 5, http: 404 },
  PERMISSION_DENIED: { number: 7, http: 403 },
  RESOURCE_EXHAUSTED: { number: 8, http: 429 },
  FAILED_PRECONDITION: { number: 9, http: 400 },
  ABORTED: { number: 10, http: 409 },
  UNIMPLEMENTED: { number: 12, http: 501 },
  INTERNAL: { number: 13, http: 500 },
  UNAVAILABLE: { number: 14, http: 503 },
  UNAUTHENTICATED: { number: 16, http: 401 },
} as const

/** gRPC status codes in use. */
export type GrpcStatusName = keyof typeof grpcStatuses

function row<const S extends number, const G extends GrpcStatusName>(
  status: S,
  grpc: G,
  meaning: string,
) {
  return { status, grpc, meaning }
}

/** All error codes with HTTP status, gRPC status and meaning. A closed list. */
export const errorTable = {
  bad_input: row(400, 'INVALID_ARGUMENT', 'The request does not fit the input descriptor.'),
  unsupported_media_type: row(
    415,
    'INVALID_ARGUMENT',
    'The input descriptor does not read this Content-Type.',
  ),
  payload_too_large: row(413, 'RESOURCE_EXHAUSTED', 'The body is larger than `maxBodyBytes`.'),
  unauthorized: row(
    401,
    'UNAUTHENTICATED',
    'The caller is not known; see the `www-authenticate` header.',
  ),
  forbidden: row(403, 'PERMISSION_DENIED', 'The caller is known and not allowed.'),
  not_found: row(
    404,
    'NOT_FOUND',
    'No API has this path, or the function found nothing by that name.',
  ),
  method_not_allowed: row(
    405,
    'UNIMPLEMENTED',
    'The path exists, the method does not; see the `allow` header.',
  ),
  conflict: row(409, 'ABORTED', 'The current state of the resource does not allow it.'),
  gone: row(410, 'NOT_FOUND', 'The job has expired, and its input and result with it.'),
  precondition_failed: row(
    412,
    'FAILED_PRECONDITION',
    'The answer has another state than `if-match` or `if-unmodified-since` asks for.',
  ),
  key_reused: row(
    422,
    'FAILED_PRECONDITION',
    'The `idempotency-key` came with another request before.',
  ),
  too_many_requests: row(
    429,
    'RESOURCE_EXHAUSTED',
    'The caller sent more than its share; see `retry-after`.',
  ),
  overloaded: row(
    503,
    'UNAVAILABLE',
    'Too many requests in flight, or the server is draining; see `retry-after`.',
  ),
  deadline_exceeded: row(
    504,
    'DEADLINE_EXCEEDED',
    'The function did not answer before the request deadline.',
  ),
  insufficient_storage: row(507, 'RESOURCE_EXHAUSTED', 'The disk for large uploads is full.'),
  client_closed: row(499, 'CANCELLED', 'The client went away; nobody receives this answer.'),
  bad_output: row(
    500,
    'INTERNAL',
    'The function returned what its output descriptor cannot encode.',
  ),
  function_error: row(500, 'INTERNAL', 'The function threw. The message is logged, not sent.'),
  internal: row(500, 'INTERNAL', 'A fault of a descriptor or of the framework itself.'),
  invalid_argument: row(
    500,
    'INTERNAL',
    'Set-up: an option or a name is wrong. Thrown to the developer.',
  ),
  value_error: row(
    500,
    'INTERNAL',
    'Set-up: a value could not be worked out from a sample. Thrown to the developer.',
  ),
  missing_dependency: row(
    500,
    'INTERNAL',
    'Set-up: an optional package is not installed. Thrown to the developer.',
  ),
}

/** A code of {@link errorTable}. */
export type ErrorCode = keyof typeof errorTable

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

/** The kind of a wrong input, sent as `reason`. */
export type BadInputReason = (typeof badInputReasons)[number]

/** An issue that a schema reports. */
export interface InputIssue {
  /** Place in the input: `user.tags[1]`; empty for the whole. */
  readonly path: string
  readonly message: string
}

/** Where and why; all optional. */
export interface ErrorDetails {
  readonly reason?: BadInputReason
  /** Place in the input: `[2][0]`, `user.name`, a part's name. */
  readonly path?: string
  /** **Units**: bytes from the body's start. */
  readonly offset?: number
  /** All issues of a schema, sent as `errors`; `path` is the first one's. */
  readonly issues?: readonly InputIssue[]
  /** Logged, never sent. */
  readonly cause?: unknown
  /** Sent as `Retry-After`. **Units**: whole seconds. */
  readonly retryAfterSeconds?: number
  /** The path's methods, sent as `Allow`. */
  readonly allow?: string
  /** The limit that refused the request; counted, never sent. */
  readonly limit?: string
  /** Sent as `WWW-Authenticate`: `Bearer realm="models"`. */
  readonly challenge?: string
  /** Sent as `Content-Range`, with the length of the whole. */
  readonly contentRange?: string
}

/** Overrides for an application's own subclass. */
export interface OwnStatus {
  /** Sent as `code`. */
  readonly code?: string
  /** **Units**: HTTP status, 400 to 599. */
  readonly status?: number
  readonly grpc?: GrpcStatusName
}

const brand = Symbol.for('serving.ServingError')

/**
 * Root of all errors that the framework throws. A subclass may have a status of its own; the client
 * sees it and, below 500, the message.
 *
 * @example
 * `class Teapot extends ServingError { constructor(message: string) { super('function_error',
 * message, {}, { code: 'teapot', status: 418 }) } }`
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
  readonly contentRange?: string
  readonly limit?: string
  // Unlike instanceof, a registry symbol works across two copies of the package in one process.
  readonly [brand] = true

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, own: OwnStatus = {}) {
    const { cause, ...shown } = details
    super(message, cause === undefined ? undefined : { cause })
    Object.assign(this, shown)
    this.name = new.target.name
    const row = errorTable[code]
    this.code = own.code ?? code
    // A status below 400 would report success.
    const { status = row.status } = own
    this.status = Number.isInteger(status) && status >= 400 && status <= 599 ? status : row.status
    this.grpc = own.grpc ?? row.grpc
  }

  /** Whether `value` is a ServingError, of this or another loaded copy of the package. */
  static is(value: unknown): value is ServingError {
    return typeof value === 'object' && value !== null && brand in value
  }
}

/** @returns a class for one row of the table: `new (message, details?)`. */
function errorClass(
  code: ErrorCode,
  defaults?: ErrorDetails,
  Base: typeof ServingError = ServingError,
) {
  return class extends Base {
    constructor(message: string, details?: ErrorDetails, own?: OwnStatus) {
      super(code, message, { ...defaults, ...details }, own)
    }
  }
}

/** The request does not fit the descriptor: 400 with a reason and a place. */
export class BadInput extends errorClass('bad_input') {}

/**
 * Checks what a client sends.
 *
 * @throws BadInput with `path`.
 */
export function checkInput(
  isValid: boolean,
  what: string,
  path: string,
  value: unknown,
): asserts isValid {
  if (!isValid) throw new BadInput(expected(what, path, value), { reason: 'schema', path })
}

/** @returns a BadInput with a reason alone. */
export function badInput(reason: BadInputReason, message: string): BadInput {
  return new BadInput(message, { reason })
}

/** The descriptor does not read this Content-Type: 415. */
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

/** The caller is unknown: 401 with `www-authenticate`, default `Bearer`. For hooks and functions. */
export class Unauthorized extends errorClass('unauthorized', { challenge: 'Bearer' }) {}

/** The caller is known and not allowed: 403. For hooks and functions to throw. */
export class Forbidden extends errorClass('forbidden') {}

/** The state of the resource does not allow the request: 409. For functions to throw. */
export class Conflict extends errorClass('conflict') {}

/** What there was has expired: 410. */
export class Gone extends errorClass('gone') {}

/** The answer has another state than the client asks for: 412. */
export class PreconditionFailed extends errorClass('precondition_failed') {}

/** An idempotency key came with another request before: 422. */
export class KeyReused extends errorClass('key_reused') {}

/** The caller sent more than its share: 429 with `retry-after`, default one second. */
export class TooManyRequests extends errorClass('too_many_requests', { retryAfterSeconds: 1 }) {}

/** Nothing is registered under the path: 404. */
export class NotFound extends errorClass('not_found') {}

/** The path has no such method: 405 with `allow`. */
export class MethodNotAllowed extends errorClass('method_not_allowed') {}

/** No room for another request: 503 with `retry-after`, default one second. */
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

/** The function threw another error than a ServingError: 500, `cause` logged only. */
export class FunctionError extends errorClass('function_error') {}

/** A fault of the framework or of a custom descriptor: 500, `cause` logged only. */
export class InternalError extends errorClass('internal') {}

/** Mistakes in the setup of a service; thrown before the first request. */
export class SetupError extends ServingError {}

/** A wrong, unknown or contradictory option or name. */
export class InvalidArgument extends errorClass('invalid_argument', undefined, SetupError) {}

/**
 * A value that cannot be determined.
 *
 * @see SPEC "Errors", `File.from_sample`.
 */
export class ValueError extends errorClass('value_error', undefined, SetupError) {}

/** An optional package is missing; the message has the install command. */
export class MissingDependencyException extends errorClass(
  'missing_dependency',
  undefined,
  SetupError,
) {}

/** Whether the client sees message, reason and place: below 500, and for states that it should know about. */
export function tellsDetail({ status, code }: ServingError): boolean {
  return (
    status < 500 ||
    ['overloaded', 'deadline_exceeded', 'insufficient_storage', 'waited_too_long'].includes(code)
  )
}

/** OK for undefined. */
export function grpcStatusOf(error: Error | undefined): GrpcStatusName | 'OK' {
  if (error === undefined) return 'OK'
  if (ServingError.is(error)) return error.grpc
  return 'INTERNAL'
}

/** @returns a value for a message: at most 80 characters, no line breaks or control characters. */
export function show(value: unknown): string {
  let text: string
  try {
    text = typeof value === 'string' ? JSON.stringify(value) : (render(value) ?? String(value))
  } catch {
    text = Object.prototype.toString.call(value)
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those must not reach a log or a header
  text = text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ')
  if (text.length > 80) return `${text.slice(0, 79)}…`
  return text
}

function render(value: unknown): string | undefined {
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`
  if (typeof value === 'bigint') return `${value}n`
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.byteLength} bytes)`
  return JSON.stringify(value)
}

/** @returns the project's form of messages: expected WHAT for NAME, received VALUE. */
export function expected(what: string, name: string, received: unknown): string {
  return `expected ${what} for ${name}, received ${show(received)}`
}

/** @returns the message of an error, or any other value as a text. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : show(thrown)
}

/** @returns the messages of the causes that add information, each after a colon. */
export function causesOf(error: Error): string {
  let said = error.message
  const seen = new Set<unknown>([error])
  for (let { cause } = error; cause instanceof Error && !seen.has(cause); cause = cause.cause) {
    seen.add(cause)
    if (!said.includes(cause.message)) said += `: ${cause.message}`
  }
  return said.slice(error.message.length)
}
