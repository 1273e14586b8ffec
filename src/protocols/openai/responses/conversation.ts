import type { Visit } from '../../../api/visit.ts'
import { BadInput, expected } from '../../../core/errors.ts'
import { type Body, check } from '../body.ts'
import type { Shelf } from '../kept-job.ts'
import { type Item, readItems } from './items.ts'
import { findResponse } from './kept.ts'

/** Kept responses that one request may read beside the previous one. */
const maxReads = 16

/**
 * @param key - Part of the ids that items get here.
 * @returns all items of a conversation: those of the previous response, and those of the input, where references are
 * the items that they name.
 * @throws BadInput; NotFound.
 */
export async function conversationOf(
  { input, previous_response_id: previous }: Body,
  key: string,
  shelf: Shelf | undefined,
  visit: Visit,
): Promise<readonly Item[]> {
  const items = readItems(input, (prefix, at) => `${prefix}_${key}_in${at}`)
  const known = new Map<string, Item>()
  const read = async (id: string, path: string, what?: string) => {
    if (shelf === undefined) throw refusal(path, id, what)
    const { kept, response } = await findResponse(shelf, id, visit, path)
    const isOver = /^(completed|incomplete)$/.test(response.status)
    check(isOver, 'a response that has ended', path, response.status)
    const all = [...kept.items, ...response.output]
    for (const item of all) known.set(item.id, item)
    return all
  }
  const before = previous === undefined ? [] : await read(String(previous), 'previous_response_id')
  let reads = 0
  // The latest one first: its conversation has most of the others.
  for (const [i, { type, id }] of [...items.entries()].reverse()) {
    if (type !== 'item_reference' || known.has(id)) continue
    // Without what it thought the model can do.
    if (shelf === undefined && id.startsWith('rs_')) continue
    check(++reads <= maxReads, `references to at most ${maxReads} conversations`, 'input', reads)
    const path = `input[${i}].id`
    await read(`resp_${/^[a-z]+_([\w-]{22})_/.exec(id)?.[1]}`, path, 'the item itself')
    check(known.has(id), 'the id of an item', path, id)
  }
  return [
    ...before,
    ...items.map((item) => (item.type === 'item_reference' && known.get(item.id)) || item),
  ]
}

/** @returns the error of a request that needs kept responses. */
export function refusal(path: string, value: unknown, what = 'nothing'): BadInput {
  const why = 'as this server keeps no responses (async of openai),'
  return new BadInput(expected(`${what}, ${why}`, path, value), { path })
}
