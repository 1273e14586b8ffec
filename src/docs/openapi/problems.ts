import { badInputReasons, type ErrorCode, errorTable } from '../../core/errors.ts'
import type { ErrorDescription, JsonSchema } from '../../descriptors/description.ts'
import { problemMediaType } from '../../http/problem.ts'
import type { Components } from './components.ts'

/** A problem, as `problemResponse` writes it. **Source**: RFC 9457. */
const problemSchema: JsonSchema = {
  type: 'object',
  description: 'What went wrong. From status 500 on there is only the code and the request id, except for 503 and 504.',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What the server expected, and what came.' },
    code: { type: 'string', description: 'Which error it is; services may have codes of their own.' },
    reason: { type: 'string', enum: badInputReasons, description: 'What about the input is wrong.' },
    path: { type: 'string', description: 'Place in the input: `[2][0]`, `user.name`, the name of a part.' },
    offset: { type: 'integer', minimum: 0, description: 'Place in the body, in bytes from its start.' },
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
  ['function_error', 'bad_output', 'internal', 'overloaded', 'deadline_exceeded'] satisfies ErrorCode[]
).map((code) => ({ code, reasons: [] }))

/** Returns the error responses of an API by status, with codes and reasons. */
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
  const responses = [...byStatus].map(([status, group]) => [status, problemOf(problem, group)] as const)
  const any = { description: 'Any other error.', content: { [problemMediaType]: { schema: problem } } }
  // Not `default`, which generated clients also take for a success whose media type they do not know.
  return { ...Object.fromEntries(responses), '4XX': any, '5XX': any }
}

function problemOf(problem: JsonSchema, errors: readonly ErrorDescription[]) {
  const reasons = errors.flatMap((error) => error.reasons)
  const properties = {
    code: { enum: errors.map(({ code }) => code) },
    ...(reasons.length > 0 && { reason: { enum: reasons } }),
  }
  // Keywords beside `$ref` count as well from JSON Schema 2019-09 on.
  return {
    description: errors.map(({ code }) => errorTable[code].meaning).join(' '),
    content: { [problemMediaType]: { schema: { ...problem, properties } } },
  }
}
