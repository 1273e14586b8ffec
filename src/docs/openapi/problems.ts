import { badInputReasons, type ErrorCode, errorTable } from '../../core/errors.ts'
import type { ErrorDescription, JsonSchema } from '../../descriptors/description.ts'
import { problemMediaType } from '../../http/problem.ts'
import type { Components } from './components.ts'

const string = { type: 'string' }
const text = (description: string) => ({ ...string, description })

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
    type: string,
    title: string,
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: text('What the server expected, and what came.'),
    code: text('Which error it is; services may have codes of their own.'),
    reason: { ...text('What about the input is wrong.'), enum: badInputReasons },
    path: text('Place in the input: `[2][0]`, `user.name`, the name of a part.'),
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
        properties: { path: string, message: string },
        required: ['path', 'message'],
      },
    },
    requestId: string,
  },
  required: ['type', 'title', 'status', 'code', 'requestId'],
}

/** @returns an answer that is a problem. Where each API brings its schema, a reference is enough. */
export function problemAnswer(
  description: string,
  schema: JsonSchema = { $ref: '#/components/schemas/Problem' },
) {
  return { description, content: { [problemMediaType]: { schema } } }
}

/** @returns the answers to GET beside the whole, where `range` and conditional headers are read. */
export function partAnswers(content: Readonly<Record<string, object>>) {
  return {
    206: { description: 'The part that `range` asks for.', content },
    304: { description: 'The client has this state.' },
    412: problemAnswer('The client asks for another state.'),
    416: problemAnswer('There is no such part.'),
  }
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
  const responses = Array.from(byStatus, ([status, group]) => [status, problemOf(problem, group)])
  const thrown = thrownErrors.map(({ status, meaning }) => [
    status,
    problemAnswer(meaning, problem),
  ])
  // Not `default`, which generated clients also take for a success whose media type they do not know, nor `4XX`, which
  // others write into the code.
  return Object.fromEntries([...thrown, ...responses])
}

function problemOf(problem: JsonSchema, errors: readonly ErrorDescription[]) {
  const reasons = errors.flatMap((error) => error.reasons)
  const properties = {
    code: { type: 'string', enum: errors.map(({ code }) => code) },
    ...(reasons.length > 0 && { reason: { type: 'string', enum: reasons } }),
  }
  const meanings = errors.map(({ code }) => errorTable[code].meaning).join(' ')
  return problemAnswer(meanings, { allOf: [problem, { type: 'object', properties }] })
}
