/** APIs as prompts: their arguments, and their answers as messages of the user. @module */

import type { Api } from '../../api/api.ts'
import { isRecord } from '../../core/options.ts'
import { namesOf, type ToolResult, toolOf } from './tools.ts'

/** @returns what lists tell of an API that is a prompt. */
export function promptOf(api: Api): object {
  const { properties, required } = toolOf(api)?.inputSchema ?? {}
  const needed = Array.isArray(required) ? required : []
  const members = isRecord(properties) ? Object.entries(properties) : []
  const args = members.map(([name, property]) => ({
    name,
    ...(isRecord(property) &&
      typeof property.description === 'string' && { description: property.description }),
    required: needed.includes(name),
  }))
  return { ...namesOf(api), arguments: args }
}

/** @returns the answer of a prompt. */
export function promptResult({ doc }: Api, { content }: ToolResult): object {
  return {
    ...(doc !== undefined && { description: doc }),
    messages: content.map((part) => ({ role: 'user', content: part })),
  }
}
