import { BadInput, BadOutput, expected } from '../core/errors.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { HeaderList } from '../http/message.ts'
import type { MultipartMessage, ProtoContent } from '../messages/messages.ts'
import type { IODescriptor } from './descriptor.ts'
import { inPart } from './form-reader.ts'
import type { PartRule } from './part-rule.ts'
import { contentOf, fromContent } from './proto-content.ts'

type Rules = ReadonlyMap<string, PartRule<IODescriptor>>

/** Returns headers for a form that came without them; its first line tells the boundary. */
export function formHeaders(form: Uint8Array): HeaderList {
  const start = Buffer.from(form.buffer, form.byteOffset, Math.min(form.length, 80)).toString('latin1')
  const boundary = /^--([^\r\n"\\]{1,70})\r\n/.exec(start)?.[1] ?? 'none'
  return HeaderList.from({ 'content-type': `multipart/form-data; boundary="${boundary}"` })
}

/** Returns the error for a required part that is missing. */
export function missingPart(name: string, where: string): BadInput {
  return new BadInput(`expected a part ${JSON.stringify(name)}, received ${where} without it`, {
    reason: 'part',
    path: name,
  })
}

/** Returns a value for each declared part; messages have one part per name. **Errors**: BadInput with its name. */
export function fromParts<T>(rules: Rules, message: MultipartMessage, ctx: Context | undefined): MaybePromise<T> {
  // Without a prototype, so that `__proto__` is an ordinary name.
  const values: Record<string, unknown> = Object.create(null)
  const pending: Promise<void>[] = []
  try {
    for (const [name, { descriptor, occurrence }] of rules) {
      const content = message.fields?.get(name)
      const store = (value: unknown) => {
        values[name] = occurrence === 'many' ? [value] : value
      }
      // Set here, so that keys have the declared order.
      values[name] = occurrence === 'many' ? [] : undefined
      if (content === undefined) {
        if (occurrence === 'one') throw missingPart(name, 'a message')
        continue
      }
      const fail = (error: unknown) => {
        throw inPart(name, error)
      }
      const value = attempt(() => fromContent(descriptor, content, ctx), fail)
      if (isPromise(value)) pending.push(Promise.resolve(value).then(store, fail))
      else store(value)
    }
  } catch (error) {
    // The rejections of earlier parts must not end the process.
    for (const other of pending) other.catch(() => {})
    throw error
  }
  return pending.length === 0 ? (values as T) : Promise.all(pending).then(() => values as T)
}

function attempt<T>(run: () => T, fail: (error: unknown) => never): T {
  try {
    return run()
  } catch (error) {
    return fail(error)
  }
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

const missing = Symbol('missing')
