/** Multipart as an RPC message. Loaded when a message comes: it needs the codecs of all messages. @module */
import type { Context } from '../http/context.ts'
import type { MultipartMessage, ProtoContent } from '../messages/messages.ts'
import { inPart, type PartPlan } from './form-reader.ts'
import { type PartRules, partValues, planParts } from './part-plan.ts'
import { contentOf, fromContent } from './proto-content.ts'

/**
 * @returns a value for each declared part; messages have one part per name.
 * @throws BadInput with its name.
 */
export async function fromParts<T>(
  rules: PartRules,
  message: MultipartMessage,
  ctx: Context | undefined,
): Promise<T> {
  const parts = planParts<T>(rules, 'a message')
  const readings = [...(message.fields ?? [])].map(async ([name, content]) => {
    const descriptor = rules.get(name)?.descriptor
    if (descriptor === undefined) return
    const { store } = parts.plan({ name }) as PartPlan
    try {
      store(await fromContent(descriptor, content, ctx))
    } catch (error) {
      throw inPart(name, error)
    }
  })
  await Promise.all(readings)
  return parts.finish()
}

/**
 * @returns a message; undefined if a name has several parts, which messages cannot hold.
 * @throws BadOutput.
 */
export function toParts(
  rules: PartRules,
  values: object,
  ctx: Context | undefined,
): Promise<MultipartMessage> | undefined {
  const parts = partValues(rules, values)
  if (new Set(parts.map(([name]) => name)).size < parts.length) return undefined
  const contents = parts.map(async ([name, descriptor, value]): Promise<[string, ProtoContent]> => {
    return [name, contentOf(descriptor, await descriptor.toProto(value, ctx))]
  })
  return Promise.all(contents).then((list) => ({ fields: new Map(list) }))
}
