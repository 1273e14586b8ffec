/** Items: the input and the output of responses, and how they are messages of a chat. @module */

import { isRecord } from '../../../core/options.ts'
import { type Body, check, checkMembers } from '../body.ts'

/** An item of a conversation. */
export type Item = Body & { readonly type: string; readonly id: string }

const texts: readonly unknown[] = ['input_text', 'output_text', 'summary_text', 'text']

/** @returns a part of content as a chat has it; undefined for an unknown one, and for one without its data. */
function chatPart({ type, text, refusal, ...more }: Body): Body | undefined {
  const { image_url: url, detail = 'auto', input_audio, file_data, filename } = more
  if (texts.includes(type) && typeof text === 'string') return { type: 'text', text }
  if (type === 'refusal' && typeof refusal === 'string') return { type: 'text', text: refusal }
  if (type === 'input_image' && url) return { type: 'image_url', image_url: { url, detail } }
  if (type === 'input_audio' && input_audio) return { type, input_audio }
  if (type === 'input_file' && file_data) return { type: 'file', file: { file_data, filename } }
  return undefined
}

interface ItemKind {
  readonly prefix: string
  readonly members: string
  /** The member that is a text or a list of parts. */
  readonly content?: string
  /** Adds the item to the messages before it. */
  add(item: Item, messages: Body[]): void
}

const itemKinds: ReadonlyMap<unknown, ItemKind> = new Map(
  Object.entries<ItemKind>({
    message: {
      prefix: 'msg',
      members: 'role: role',
      content: 'content',
      add({ role, content }, messages) {
        const message = { role, content: chatContent(content) }
        if (role === 'assistant') Object.assign(turnOf(messages, isThought), message)
        else messages.push(message)
      },
    },
    function_call: {
      prefix: 'fc',
      members: 'call_id: string, name: string, arguments: string',
      add({ call_id: id, name, arguments: given }, messages) {
        const turn = turnOf(messages, () => true)
        turn.tool_calls ??= []
        const call = { id, type: 'function', function: { name, arguments: given } }
        ;(turn.tool_calls as object[]).push(call)
      },
    },
    function_call_output: {
      prefix: 'fco',
      members: 'call_id: string',
      content: 'output',
      add: ({ call_id: id, output }, messages) =>
        messages.push({ role: 'tool', tool_call_id: id, content: chatContent(output) }),
    },
    reasoning: {
      prefix: 'rs',
      members: 'summary?: object[]',
      content: 'summary',
      add({ summary = [] }, messages) {
        const text = (summary as Body[]).map((part) => part.text).join('\n')
        if (text !== '') turnOf(messages, () => false).reasoning_content = text
      },
    },
    item_reference: { prefix: 'ref', members: 'id: string', add() {} },
  }),
)

/**
 * @param idOf - Makes the id of an item without one, by its place.
 * @returns the input of a request as items; an `item_reference` is one.
 * @throws BadInput.
 */
export function readItems(input: unknown, idOf: (prefix: string, at: number) => string): Item[] {
  const items: unknown = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  check(Array.isArray(items) && items.length > 0, 'a text or a list of items', 'input', input)
  return items.map((item, i) => {
    const path = `input[${i}]`
    check(isRecord(item), 'an object', path, item)
    const { type = item.role === undefined ? 'item_reference' : 'message', ...rest } = item
    const kind = itemKinds.get(type)
    check(kind !== undefined, `one of ${[...itemKinds.keys()].join(', ')}`, `${path}.type`, type)
    checkMembers(rest, kind.members, `${path}.`)
    if (kind.content !== undefined) checkContent(rest[kind.content], `${path}.${kind.content}`)
    const { role, content } = rest
    const texts =
      role === 'assistant' ? { type: 'output_text', annotations: [] } : { type: 'input_text' }
    return {
      status: 'completed',
      ...rest,
      type: String(type),
      id: typeof rest.id === 'string' ? rest.id : idOf(kind.prefix, i),
      ...(type === 'message' &&
        typeof content === 'string' && { content: [{ ...texts, text: content }] }),
    }
  })
}

/** @throws BadInput. */
function checkContent(content: unknown = '', path: string): void {
  if (typeof content === 'string') return
  check(Array.isArray(content), 'a text or a list of parts', path, content)
  const what = 'a part of text, image, audio or file with its data within'
  for (const [i, part] of content.entries())
    check(isRecord(part) && chatPart(part) !== undefined, what, `${path}[${i}]`, part)
}

function chatContent(content: unknown = ''): unknown {
  return typeof content === 'string' ? content : (content as Body[]).map(chatPart)
}

/** @returns the turn of the assistant that the next item belongs to: the last message, if it is free for it. */
function turnOf(messages: Body[], isFree: (turn: Body) => boolean): Body {
  const last = messages.at(-1)
  if (last?.role === 'assistant' && isFree(last)) return last
  const turn = { role: 'assistant', content: '' }
  messages.push(turn)
  return turn
}

/** Whether a turn has nothing but what the model thought in front of its answer. */
function isThought({ content, tool_calls: calls }: Body): boolean {
  return content === '' && calls === undefined
}

/** @returns a conversation as messages of a chat. */
export function messagesOf(items: readonly Item[], instructions: unknown): Body[] {
  const messages: Body[] = []
  if (instructions !== undefined) messages.push({ role: 'system', content: instructions })
  for (const item of items) itemKinds.get(item.type)?.add(item, messages)
  return messages
}
