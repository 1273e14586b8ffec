/** Requests of `/v1/responses`, as those of `/v1/chat/completions`. @module */

import { BadInput } from '../../../core/errors.ts'
import { isRecord } from '../../../core/options.ts'
import { type Body, check } from '../body.ts'
import { type Item, messagesOf } from './items.ts'

/** What a request asks for. */
export interface Asked {
  /** As `/v1/chat/completions` has it. */
  readonly chat: Body
  /** What the answer repeats of the request. */
  readonly shown: Body
}

/** What an answer tells of members that the request does not have. */
const defaults = {
  previous_response_id: null,
  instructions: null,
  tool_choice: 'auto',
  truncation: 'disabled',
  parallel_tool_calls: true,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  max_output_tokens: null,
  max_tool_calls: null,
  service_tier: 'default',
  metadata: {},
  user: null,
  safety_identifier: null,
  prompt_cache_key: null,
  store: false,
  background: false,
}

/**
 * @param items - Of the conversation, to its end.
 * @throws BadInput.
 */
export function askedOf(body: Body, items: readonly Item[]): Asked {
  const {
    instructions,
    previous_response_id: _,
    tools: given,
    tool_choice: choice,
    text,
    reasoning,
    include,
    max_output_tokens: max_completion_tokens,
    stream: __,
    stream_options: ___,
    store: ____,
    background: _____,
    ...rest
  } = body
  const { format, verbosity } = Object(text)
  const tools = toolsOf(given)
  const { effort = null, summary = null } = Object(reasoning)
  const isLikely = Array.isArray(include) && include.includes('message.output_text.logprobs')
  const { top_logprobs } = rest
  const chat = {
    ...rest,
    messages: messagesOf(items, instructions),
    ...choiceOf(choice, tools),
    response_format: chatFormat(format),
    verbosity,
    reasoning_effort: effort ?? undefined,
    max_completion_tokens,
    logprobs: isLikely || top_logprobs !== undefined || undefined,
  }
  const asked = Object.entries(body).filter(([name]) => name in defaults)
  const shown = {
    ...defaults,
    ...Object.fromEntries(asked),
    model: rest.model,
    tools: tools.map((tool) => ({ description: null, parameters: null, strict: null, ...tool })),
    text: {
      ...Object(text),
      format: { type: 'text', ...(isSchema(format) && schemaDefaults), ...format },
    },
    reasoning: (reasoning ?? null) && { effort, summary },
  }
  return { chat: present(chat), shown }
}

const schemaDefaults = { description: null, strict: false }

function present(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

function isSchema(format: unknown): format is Body {
  return isRecord(format) && format.type === 'json_schema'
}

/**
 * Leaves out tools of other types, which agents offer to every server, and which the model could not call.
 *
 * @throws BadInput.
 */
function toolsOf(given: unknown = []): readonly Body[] {
  check(Array.isArray(given), 'a list of tools', 'tools', given)
  for (const [i, tool] of given.entries()) {
    const { type, name } = Object(tool)
    const isTool = typeof (type === 'function' ? name : type) === 'string'
    check(isTool, 'a tool with a type, and the name of a function', `tools[${i}]`, tool)
  }
  return given.filter(({ type }) => type === 'function')
}

/** @returns the members of a chat for the tools that the choice allows. */
function choiceOf(choice: unknown, all: readonly Body[]): Body {
  const toolsOfChat = (tools: readonly Body[]) =>
    tools.length > 0 ? tools.map(({ type, ...own }) => ({ type, function: own })) : undefined
  if (!isRecord(choice)) return { tools: toolsOfChat(all), tool_choice: choice }
  const { type, name, mode = 'auto', tools: allowed } = choice
  if (type === 'function')
    return { tools: toolsOfChat(all), tool_choice: { type, function: { name } } }
  const isList = type === 'allowed_tools' && Array.isArray(allowed)
  const what = 'auto, none, required, or a choice of type function or allowed_tools'
  check(isList, what, 'tool_choice', choice)
  const names = allowed.map((tool) => Object(tool).name)
  return { tools: toolsOfChat(all.filter((tool) => names.includes(tool.name))), tool_choice: mode }
}

function chatFormat(format: unknown): unknown {
  if (!isSchema(format)) return format
  const { type, ...own } = format
  return { type, json_schema: own }
}

/** @returns an error of a chat in the names of the request. */
export function renamed(error: unknown): unknown {
  if (!(error instanceof BadInput) || error.status !== 400 || !error.path) return error
  const rename = (text: string) =>
    text
      .replace(/\bmessages(\[\d+\][\w.[\]]*)?/, 'input')
      .replace(/\bmax_completion_tokens\b/, 'max_output_tokens')
      .replace(/\bresponse_format\b/, 'text.format')
  return new BadInput(rename(error.message), { path: rename(error.path), reason: error.reason })
}
