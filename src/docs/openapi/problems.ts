import { badInputReasons, type ErrorCode, errorTable } from '../../core/errors.ts'
import type { ErrorDescription, JsonSchema } from '../../descriptors/description.ts'
import { problemMediaType } from '../../http/problem.ts'
import type { Components } from './components.ts'

/**
 * A problem, as `problemResponse` writes it.
 *
 * @see RFC 9457.
 */
const problemSchema: JsonSchema = {
  type: 'object',
  description:
    'What went wrong. From status 500 on there is only the code and the request id, except for 503 and 504.',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What the server expected, and what came.' },
    code: {
      type: 'string',
      description: 'Which error it is; services may have codes of their own.',
    },
    reason: {
      type: 'string',
      enum: badInputReasons,
      description: 'What about the input is wrong.',
    },
    path: {
      type: 'string',
      description: 'Place in the input: `[2][0]`, `user.name`, the name of a part.',
    },
    offset: {
      type: 'integer',
      minimum: 0,
      description: 'Place in the body, in bytes from its start.',
    },
    errors: {
      type: 'array',
      description: 'All that a schema finds wrong.',
      items: {
        type: 'object',
        properties: { path: { type: 'string' }, message: { type: 'string' } },
        required: ['path', 'message'],
      },
    },
    requestId: { type: 'string' },
  },
  required: ['type', 'title', 'status', 'code', 'requestId'],
}

const ownErrors: readonly ErrorDescription[] = (
  [
    'function_error',
    'bad_output',
    'internal',
    'overloaded',
    'deadline_exceeded',
  ] satisfies ErrorCode[]
).map((code) => ({ code, reasons: [] }))

/** What a function or a hook may throw on purpose, also with a code of its own. */
const thrownErrors = (['not_found', 'conflict', 'too_many_requests'] satisfies ErrorCode[]).map(
  (code) => errorTable[code],
)

/** @returns the error responses of an API by status, with codes and reasons. */
export function problemResponses(
  errors: readonly ErrorDescription[],
  components: Components,
): Readonly<Record<string, object>> {
  const problem = components.add('Problem', problemSchema)
  const byStatus = new Map<number, ErrorDescription[]>()
  for (const error of [...errors, ...ownErrors]) {
    const { status } = errorTable[error.code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), error])
  }
  const responses = [...byStatus].map(
    ([status, group]) => [status, problemOf(problem, group)] as const,
  )
  const thrown = thrownErrors.map(({ status, meaning }) => {
    return [
      status,
      { description: meaning, content: { [problemMediaType]: { schema: problem } } },
    ] as const
  })
  // Not `default`, which generated clients also take for a success whose media type they do not know, nor `4XX`, which
  // others write into the code.
  return { ...Object.fromEntries(thrown), ...Object.fromEntries(responses) }
}

function problemOf(problem: JsonSchema, errors: readonly ErrorDescription[]) {
  const reasons = errors.flatMap((error) => error.reasons)
  const properties = {
    code: { type: 'string', enum: errors.map(({ code }) => code) },
    ...(reasons.length > 0 && { reason: { type: 'string', enum: reasons } }),
  }
  const schema = { allOf: [problem, { type: 'object', properties }] }
  return {
    description: errors.map(({ code }) => errorTable[code].meaning).join(' '),
    content: { [problemMediaType]: { schema } },
  }
}
