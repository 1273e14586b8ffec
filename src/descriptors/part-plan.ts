/** How the parts of a form or message become the parts of a value, and back. @module */
import { BadInput, BadOutput, expected } from '../core/errors.ts'
import type { FormPart } from '../http/form/form-part.ts'
import { HeaderList } from '../http/message.ts'
import type { IODescriptor } from './descriptor.ts'
import { File } from './file.ts'
import type { PartPlan } from './form-reader.ts'
import type { PartRule } from './part-rule.ts'
import { Text } from './text.ts'

/** The rules of the parts, by name. */
export type PartRules = ReadonlyMap<string, PartRule<IODescriptor>>

/** @returns headers for a form that came without them; its first line tells the boundary. */
export function formHeaders(form: Uint8Array): HeaderList {
  const start = Buffer.from(form.buffer, form.byteOffset, Math.min(form.length, 80)).toString(
    'latin1',
  )
  const boundary = /^--([^\r\n"\\]{1,70})\r\n/.exec(start)?.[1] ?? 'none'
  return HeaderList.from({ 'content-type': `multipart/form-data; boundary="${boundary}"` })
}

/** Value of a part that has not come yet, or that a result lacks. */
const missing = Symbol('missing')

/** @returns how to read the parts of a whole by their names: a value for each declared one. */
export function planParts<T>(rules: PartRules, whole: 'a form' | 'a message') {
  // Without a prototype, so that `__proto__` is an ordinary name.
  const values: Record<string, unknown> = Object.create(null)
  // Set here, so that keys have the declared order.
  for (const [name, { occurrence }] of rules) values[name] = occurrence === 'many' ? [] : missing
  const fail = (what: string, path: string) =>
    new BadInput(`expected ${what}`, { reason: 'part', path })
  return {
    /** `isEmpty`: it has no bytes. An empty field stands for an optional value, unless that may be empty itself. */
    plan({ name }: Pick<FormPart, 'name'>, isEmpty = false): PartPlan | undefined {
      const rule = rules.get(name)
      if (rule === undefined) return undefined
      const { descriptor, occurrence } = rule
      if (isEmpty && occurrence === 'optional' && !mayBeEmpty(descriptor)) return undefined
      if (occurrence === 'many') {
        const list = values[name] as unknown[]
        const index = list.push(undefined) - 1
        const store = (value: unknown) => {
          list[index] = value
        }
        return { descriptor, path: `${name}[${index}]`, store }
      }
      if (values[name] !== missing)
        throw fail(`part ${JSON.stringify(name)} once, received it twice`, name)
      const store = (value: unknown) => {
        values[name] = value
      }
      store(undefined)
      return { descriptor, path: name, store }
    },
    finish(): T {
      for (const [name, { occurrence }] of rules) {
        if (values[name] !== missing) continue
        if (occurrence === 'one')
          throw fail(`a part ${JSON.stringify(name)}, received ${whole} without it`, name)
        values[name] = undefined
      }
      return values as T
    },
  }
}

function mayBeEmpty(descriptor: IODescriptor): boolean {
  return descriptor instanceof Text || descriptor instanceof File
}

/**
 * @returns name, descriptor and value of each part of a result, in declared order.
 * @throws BadOutput.
 */
export function partValues(
  rules: PartRules,
  values: object,
): [name: string, descriptor: IODescriptor, value: unknown][] {
  const list: [string, IODescriptor, unknown][] = []
  for (const [name, { descriptor, occurrence }] of rules) {
    const value = Object.hasOwn(values, name) ? (values as Record<string, unknown>)[name] : missing
    const owner = `part ${JSON.stringify(name)} of Multipart`
    if (occurrence === 'optional' && (value === missing || value === undefined || value === null))
      continue
    if (value === missing)
      throw new BadOutput(`expected a value for ${owner}, received none`, { path: name })
    if (occurrence !== 'many') list.push([name, descriptor, value])
    else if (Array.isArray(value)) for (const each of value) list.push([name, descriptor, each])
    else throw new BadOutput(expected('a list', owner, value), { path: name })
  }
  return list
}
