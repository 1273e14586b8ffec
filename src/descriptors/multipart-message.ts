/**
 * Parts of a form ⇄ a Multipart message.
 * @module
 */

import { BadInput, BadOutput } from '../errors.ts'
import type { Context } from '../http/context.ts'
import { HeaderList } from '../http/message.ts'
import { isPromise, type MaybePromise } from '../promise.ts'
import type { MultipartMessage, ProtoContent } from '../proto/messages.ts'
import type { IODescriptor } from './descriptor.ts'
import { inPart } from './form-reader.ts'
import { contentOf, fromContent } from './proto-content.ts'

type Parts = ReadonlyMap<string, IODescriptor>

/** The headers of a form that came without them: its first line tells the boundary. */
export function formHeaders(form: Uint8Array): HeaderList {
  const start = Buffer.from(form.buffer, form.byteOffset, Math.min(form.length, 80)).toString('latin1')
  const boundary = /^--([^\r\n"\\]{1,70})\r\n/.exec(start)?.[1] ?? 'none'
  return HeaderList.from({ 'content-type': `multipart/form-data; boundary="${boundary}"` })
}

/** A message becomes a value for each declared part; others are skipped. **Errors**: BadInput with the part's name in its path. */
export function fromParts<T>(parts: Parts, message: MultipartMessage, ctx: Context | undefined): MaybePromise<T> {
  // Without a prototype, `__proto__` is a name like any other.
  const values: Record<string, unknown> = Object.create(null)
  const pending: Promise<void>[] = []
  for (const [name, descriptor] of parts) {
    // In the order in which they were declared, whatever the order they come in.
    values[name] = undefined
    const content = message.fields?.get(name)
    if (content === undefined) {
      for (const other of pending) other.catch(() => {})
      throw new BadInput(`expected a part ${JSON.stringify(name)}, received a message without it`, {
        reason: 'part',
        path: name,
      })
    }
    try {
      const value = fromContent(descriptor, content.field, () => content.message, ctx)
      if (!isPromise(value)) values[name] = value
      else {
        const keep = (later: unknown) => {
          values[name] = later
        }
        const fail = (error: unknown) => {
          throw inPart(name, error)
        }
        pending.push(Promise.resolve(value).then(keep, fail))
      }
    } catch (error) {
      // Nobody waits for the parts before it; their own failures must not end the process.
      for (const other of pending) other.catch(() => {})
      throw inPart(name, error)
    }
  }
  return pending.length === 0 ? (values as T) : Promise.all(pending).then(() => values as T)
}

/** Values of the declared parts become a message. **Errors**: BadOutput. */
export async function toParts(parts: Parts, values: object, ctx: Context | undefined): Promise<MultipartMessage> {
  const list = await Promise.all(
    [...parts].map(async ([name, descriptor]): Promise<[string, ProtoContent]> => {
      if (!Object.hasOwn(values, name)) throw new BadOutput(`expected a part ${JSON.stringify(name)}, received none`)
      return [name, contentOf(descriptor, await descriptor.toProto((values as Record<string, unknown>)[name], ctx))]
    }),
  )
  return { fields: new Map(list) }
}
