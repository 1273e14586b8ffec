/** APIs as prompts: their arguments, and their answers as messages of the user. @module */

import type { Api } from '../../api/api.ts'
import { membersIn } from '../../core/json-schema/shape.ts'
import { namesOf, type ToolResult, toolOf } from './tools.ts'

/** @returns what lists tell of an API that is a prompt. */
export function promptOf(api: Api): object {
  const members = membersIn(toolOf(api)?.inputSchema ?? {})
  const args = members.map(({ name, isRequired, schema }) => {
    const { description } = Object(schema)
    return { name, description, required: isRequired }
  })
  return { ...namesOf(api), arguments: args }
}

/** @returns the answer of a prompt. */
export function promptResult({ doc }: Api, { content }: ToolResult): object {
  return { description: doc, messages: content.map((part) => ({ role: 'user', content: part })) }
}
