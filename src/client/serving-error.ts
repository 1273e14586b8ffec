/**
 * A call that failed: what the server answered (`code` of its table of errors), or `network` when there was no whole
 * answer, `deadline_exceeded` (status 0) when `timeoutMs` passed, `bad_input` (status 0) for an argument that the API
 * does not take, and `undescribed` when the service does not say what its APIs take.
 */
export class ServingError extends Error {
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number = 0
  readonly code!: string
  /** Kind within the code: `shape`, `dtype`, `syntax`, … */
  readonly reason?: string
  /** Place in the input: `[2][0]`, `user.name`, the name of a part. */
  readonly path?: string
  /** Place in the body. **Units**: bytes. */
  readonly offset?: number
  readonly issues: readonly { readonly path: string; readonly message: string }[] = []
  readonly requestId?: string
  readonly retryAfterMs?: number

  constructor(message: string, { cause, ...fields }: ServingErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ServingError'
    Object.assign(this, fields)
  }
}

/** Members of a {@link ServingError}. */
export type ServingErrorFields = Pick<ServingError, 'code'> &
  Partial<Omit<ServingError, 'name' | 'message'>>

/** Reads a failed response, of problem+json or of any other form. Never throws. */
export async function errorOf(response: Response): Promise<ServingError> {
  const { status, headers } = response
  const text = await response.text().catch(() => '')
  let problem: Record<string, unknown> = {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) problem = value as Record<string, unknown>
  } catch {}
  const word = (name: string) =>
    typeof problem[name] === 'string' ? (problem[name] as string) : undefined
  const title = word('title') ?? response.statusText
  return new ServingError(
    word('detail') ?? `the server answered ${status}${title && ` ${title}`}`,
    {
      status,
      code: word('code') ?? `http_${status}`,
      reason: word('reason'),
      path: word('path'),
      offset: typeof problem.offset === 'number' ? problem.offset : undefined,
      issues: Array.isArray(problem.errors) ? problem.errors : [],
      requestId: word('requestId') ?? headers.get('x-request-id') ?? undefined,
      retryAfterMs: retryAfterMs(headers.get('retry-after')),
    },
  )
}

function retryAfterMs(value: string | null): number | undefined {
  if (value === null) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

/** @returns the error for an answer that is no whole one. */
export function unreadable(expected: string): ServingError {
  return new ServingError(`expected ${expected} in the answer, received other bytes`, {
    code: 'network',
  })
}

/** @returns the error for an argument that an API does not take. */
export function badArgument(expected: string, api: string): ServingError {
  return new ServingError(`expected ${expected} for ${api}`, { code: 'bad_input' })
}
