/** The members of an object as fields. @module */
import type { SchemaObject } from '../../client/description.ts'
import { h } from './dom.ts'
import { type ErrorLocation, type Field, newNote, setInvalid, tell, Ways } from './field.ts'
import { hasMembers, resolved, startOf } from './schema.ts'
import { TextField } from './text-field.ts'

/** Returns the field of a JSON value: the members of its schema, or the text. */
export function jsonField(label: string, schema: unknown, example: unknown, document: unknown): Field {
  const known = resolved(schema, document)
  const start = example ?? startOf(known, document)
  const text = new TextField({ label: `${label} as JSON`, text: JSON.stringify(start, null, 2) })
  if (!hasMembers(known)) return text
  const form = new SchemaForm(known, start, document)
  const fields: Field = {
    element: form.element,
    read: () => ({ type: 'application/json', data: JSON.stringify(form.read(), null, 2) }),
    write: ({ data }) => {
      if (typeof data === 'string') form.show(JSON.parse(data))
      return typeof data === 'string'
    },
    mark: (locations) => form.mark(locations),
  }
  return new Ways(label, [
    ['Fields', fields],
    ['JSON', text],
  ])
}

interface Control {
  readonly element: HTMLElement
  read(): unknown
  mark(locations: readonly ErrorLocation[]): void
}

/** A field for each member of an object. */
class SchemaForm implements Control {
  readonly element = h('div', { class: 'members' })
  readonly #note = newNote()
  readonly #schema: SchemaObject
  readonly #document: unknown
  readonly #controls = new Map<string, Control>()

  constructor(schema: SchemaObject, value: unknown, document: unknown) {
    this.#schema = schema
    this.#document = document
    this.show(value)
  }

  show(value: unknown): void {
    const given = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
    const required = (this.#schema.required ?? []) as readonly string[]
    for (const [name, each] of Object.entries(this.#schema.properties as Record<string, unknown>)) {
      const schema = resolved(each, this.#document)
      const member = { name, schema, isRequired: required.includes(name), value: given[name] }
      this.#controls.set(name, controlOf(member, this.#document))
    }
    this.element.replaceChildren(this.#note, ...[...this.#controls.values()].map(({ element }) => element))
  }

  read(): unknown {
    const members = [...this.#controls].map(([name, control]) => [name, control.read()] as const)
    return Object.fromEntries(members.filter(([, value]) => value !== undefined))
  }

  mark(locations: readonly ErrorLocation[]): void {
    const split = locations.map((location) => {
      const [, name = '', rest = ''] = /^([^.[\]]+)\.?(.*)$/s.exec(location.path ?? '') ?? []
      return { name, location: { ...location, offset: undefined, path: rest } }
    })
    for (const [name, control] of this.#controls)
      control.mark(split.filter((each) => each.name === name).map(({ location }) => location))
    const others = split.filter(({ name }) => !this.#controls.has(name))
    tell(
      this.#note,
      others.map(({ location }) => location),
    )
  }
}

interface Member {
  readonly name: string
  readonly schema: SchemaObject
  readonly isRequired: boolean
  readonly value: unknown
}

function controlOf(member: Member, document: unknown): Control {
  const { name, schema, isRequired, value } = member
  const { enum: words, default: given } = schema
  const [type] = [schema.type].flat()
  if (hasMembers(schema)) {
    const form = new SchemaForm(schema, value, document)
    const element = h('fieldset', {}, h('legend', {}, name), form.element)
    return { element, read: () => form.read(), mark: (locations) => form.mark(locations) }
  }
  if (Array.isArray(words) || type === 'boolean') {
    const choices: readonly unknown[] = Array.isArray(words) ? words : [true, false]
    const options = choices.map((word, i) => h('option', { value: i, selected: word === value }, String(word)))
    const select = h('select', {}, !isRequired && h('option', { value: '' }, ''), ...options)
    return inputControl(member, select, (text) => (text === '' ? undefined : choices[Number(text)]))
  }
  if (type === 'string' || type === 'number' || type === 'integer') {
    const isNumber = type !== 'string'
    const input = h('input', {
      type: 'text',
      inputmode: isNumber ? 'decimal' : undefined,
      value: value === undefined ? '' : String(value),
      placeholder: given === undefined ? undefined : String(given),
    })
    return inputControl(member, input, (text) => {
      if (text === '' && (!isRequired || isNumber)) return undefined
      // Other text is sent unchanged, so that the answer has the error of the server.
      return isNumber && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
    })
  }
  const editor = new TextField({ label: name, rows: 3, text: value === undefined ? '' : JSON.stringify(value) })
  return {
    element: labelled(member, editor.element),
    read: () => (editor.text.trim() === '' && !isRequired ? undefined : parsed(editor.text)),
    mark: (locations) => editor.mark(locations),
  }
}

function inputControl(
  member: Member,
  input: HTMLInputElement | HTMLSelectElement,
  valueOf: (text: string) => unknown,
): Control {
  const note = newNote()
  const mark = (locations: readonly ErrorLocation[]) => {
    tell(note, locations)
    setInvalid(input, locations.length > 0)
  }
  input.setAttribute('aria-describedby', note.id)
  input.addEventListener('input', () => mark([]))
  return { element: labelled(member, input, note), read: () => valueOf(input.value), mark }
}

function labelled({ name, schema, isRequired }: Member, ...inputs: HTMLElement[]): HTMLElement {
  const types = [schema.type].flat().join(' or ')
  const about = [types, isRequired ? '' : 'optional', schema.description].filter(Boolean).join(', ')
  return h('label', { class: 'member' }, h('span', {}, name, ' ', h('span', { class: 'dim' }, about)), ...inputs)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`Expected JSON, received ${text.slice(0, 40)}`)
  }
}
