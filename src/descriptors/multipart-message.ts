import { BadInput, BadOutput, expected } from '../core/errors.ts'
import type { Context } from '../http/context.ts'
import type { FormPart } from '../http/form/form-part.ts'
import { HeaderList } from '../http/message.ts'
import type { MultipartMessage, ProtoContent } from '../messages/messages.ts'
import type { IODescriptor } from './descriptor.ts'
import { File } from './file.ts'
import { inPart, type PartPlan } from './form-reader.ts'
import type { PartRule } from './part-rule.ts'
import { contentOf, fromContent } from './proto-content.ts'
import { Text } from './text.ts'

type Rules = ReadonlyMap<string, PartRule<IODescriptor>>

/** Returns headers for a form that came without them; its first line tells the boundary. */
export function formHeaders(form: Uint8Array): HeaderList {
  const start = Buffer.from(form.buffer, form.byteOffset, Math.min(form.length, 80)).toString('latin1')
  const boundary = /^--([^\r\n"\\]{1,70})\r\n/.exec(start)?.[1] ?? 'none'
  return HeaderList.from({ 'content-type': `multipart/form-data; boundary="${boundary}"` })
}

/** Value of a part that has not come yet, or that a result lacks. */
const missing = Symbol('missing')

/** Returns how to read the parts of a whole by their names: a value for each declared one. */
export function planParts<T>(rules: Rules, whole: 'a form' | 'a message') {
  // Without a prototype, so that `__proto__` is an ordinary name.
  const values: Record<string, unknown> = Object.create(null)
  // Set here, so that keys have the declared order.
  for (const [name, { occurrence }] of rules) values[name] = occurrence === 'many' ? [] : missing
  const fail = (what: string, path: string) => new BadInput(`expected ${what}`, { reason: 'part', path })
  return {
    /** `isEmpty`: it has no bytes. An empty field stands for an optional value, unless that may be empty itself. */
    plan({ name }: Pick<FormPart, 'name'>, isEmpty = false): PartPlan | undefined {
      const rule = rules.get(name)
      if (rule === undefined) return undefined
      const { descriptor, occurrence } = rule
      if (isEmpty && occurrence === 'optional' && !mayBeEmpty(descriptor)) return undefined
      const isMany = occurrence === 'many'
      if (!isMany && values[name] !== missing) throw fail(`part ${JSON.stringify(name)} once, received it twice`, name)
      if (!isMany) values[name] = undefined
      const target = (isMany ? values[name] : values) as Record<string | number, unknown>
      const key = isMany ? (values[name] as unknown[]).push(undefined) - 1 : name
      const store = (value: unknown) => {
        target[key] = value
      }
      return { descriptor, path: isMany ? `${name}[${key}]` : name, store }
    },
    finish(): T {
      for (const [name, { occurrence }] of rules) {
        if (values[name] !== missing) continue
        if (occurrence === 'one') throw fail(`a part ${JSON.stringify(name)}, received ${whole} without it`, name)
        values[name] = undefined
      }
      return values as T
    },
  }
}

function mayBeEmpty(descriptor: IODescriptor): boolean {
  return descriptor instanceof Text || descriptor instanceof File
}

/** Returns a value for each declared part; messages have one part per name. **Errors**: BadInput with its name. */
export async function fromParts<T>(rules: Rules, message: MultipartMessage, ctx: Context | undefined): Promise<T> {
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

/** Returns name, descriptor and value of each part of a result, in declared order. **Errors**: BadOutput. */
export function partValues(rules: Rules, values: object): [name: string, descriptor: IODescriptor, value: unknown][] {
  const list: [string, IODescriptor, unknown][] = []
  for (const [name, { descriptor, occurrence }] of rules) {
    const value = Object.hasOwn(values, name) ? (values as Record<string, unknown>)[name] : missing
    if (occurrence === 'many' && Array.isArray(value)) for (const each of value) list.push([name, descriptor, each])
    else if (occurrence === 'many' && value !== missing) {
      throw new BadOutput(expected('a list', `part ${JSON.stringify(name)} of Multipart`, value), { path: name })
    } else if (value === missing && occurrence !== 'optional') {
      throw new BadOutput(`expected a value for part ${JSON.stringify(name)} of Multipart, received none`, {
        path: name,
      })
    } else if (occurrence === 'one' || (value !== missing && value !== undefined && value !== null)) {
      list.push([name, descriptor, value])
    }
  }
  return list
}

/** Returns a message; undefined if a name has several parts, which messages cannot hold. **Errors**: BadOutput. */
export function toParts(rules: Rules, values: object, ctx: Context | undefined): Promise<MultipartMessage> | undefined {
  const parts = partValues(rules, values)
  if (new Set(parts.map(([name]) => name)).size < parts.length) return undefined
  const contents = parts.map(async ([name, descriptor, value]): Promise<[string, ProtoContent]> => {
    return [name, contentOf(descriptor, await descriptor.toProto(value, ctx))]
  })
  return Promise.all(contents).then((list) => ({ fields: new Map(list) }))
}
