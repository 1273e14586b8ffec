/** The members of an object as fields. @module */
import type { SchemaObject } from '../../client/description.ts'
import { h, newId } from './dom.ts'
import type { ErrorLocation } from './field.ts'
import { hasMembers, resolved } from './schema.ts'
import { TextEditor } from './text-editor.ts'

interface Control {
  readonly element: HTMLElement
  read(): unknown
  mark(locations: readonly ErrorLocation[]): void
  clear(): void
}

/** A field for each member of an object. */
export class SchemaForm implements Control {
  readonly element: HTMLElement
  readonly #note = h('p', { class: 'note', role: 'alert', hidden: true })
  readonly #controls = new Map<string, Control>()

  constructor(schema: SchemaObject, value: unknown, document: unknown) {
    const given = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
    const required = (schema.required ?? []) as readonly string[]
    for (const [name, each] of Object.entries(schema.properties as Record<string, unknown>)) {
      const member = resolved(each, document)
      this.#controls.set(name, controlOf(name, member, given[name], required.includes(name), document))
    }
    const elements = [...this.#controls.values()].map(({ element }) => element)
    this.element = h('div', { class: 'members' }, this.#note, ...elements)
  }

  read(): unknown {
    const members = [...this.#controls].map(([name, control]) => [name, control.read()] as const)
    return Object.fromEntries(members.filter(([, value]) => value !== undefined))
  }

  mark(locations: readonly ErrorLocation[]): void {
    const others: ErrorLocation[] = []
    const byName = new Map<string, ErrorLocation[]>()
    for (const location of locations) {
      const [, name = '', rest = ''] = /^([^.[\]]+)\.?(.*)$/s.exec(location.path ?? '') ?? []
      if (!this.#controls.has(name)) others.push(location)
      else byName.set(name, [...(byName.get(name) ?? []), { ...location, offset: undefined, path: rest }])
    }
    for (const [name, own] of byName) this.#controls.get(name)?.mark(own)
    this.#note.hidden = others.length === 0
    this.#note.textContent = others.map(({ message }) => message).join('\n')
  }

  clear(): void {
    this.#note.hidden = true
    for (const control of this.#controls.values()) control.clear()
  }
}

function controlOf(
  name: string,
  schema: SchemaObject,
  value: unknown,
  isRequired: boolean,
  document: unknown,
): Control {
  const [type] = [schema.type].flat()
  if (hasMembers(schema)) {
    const form = new SchemaForm(schema, value, document)
    return Object.assign(form, { element: h('fieldset', {}, h('legend', {}, name), form.element) })
  }
  if (Array.isArray(schema.enum) || type === 'boolean') {
    return wordControl(name, schema, value, isRequired, Array.isArray(schema.enum) ? schema.enum : [true, false])
  }
  if (type === 'string' || type === 'number' || type === 'integer') {
    return scalarControl(name, schema, value, isRequired, type !== 'string')
  }
  const editor = new TextEditor(value === undefined ? '' : JSON.stringify(value), { label: name, rows: 3 })
  return {
    element: labelled(name, schema, isRequired, editor.element),
    read: () => (editor.text.trim() === '' && !isRequired ? undefined : parsed(editor.text)),
    mark: (locations) => editor.mark(locations),
    clear: () => editor.clear(),
  }
}

function scalarControl(name: string, schema: SchemaObject, value: unknown, isRequired: boolean, isNumber: boolean) {
  const input = h('input', {
    type: 'text',
    inputmode: isNumber ? 'decimal' : undefined,
    value: value === undefined ? '' : String(value),
    placeholder: schema.default === undefined ? undefined : String(schema.default),
  })
  const read = () => {
    const text = input.value
    if (text === '' && (!isRequired || isNumber)) return undefined
    // Other text is sent unchanged, so that the answer has the error of the server.
    return isNumber && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
  }
  return marked(name, schema, isRequired, input, read)
}

function wordControl(
  name: string,
  schema: SchemaObject,
  value: unknown,
  isRequired: boolean,
  words: readonly unknown[],
) {
  const options = words.map((word, i) => h('option', { value: i, selected: word === value }, String(word)))
  const select = h('select', {}, !isRequired && h('option', { value: '' }, ''), ...options)
  const read = () => (select.value === '' ? undefined : words[Number(select.value)])
  return marked(name, schema, isRequired, select, read)
}

function marked(
  name: string,
  schema: SchemaObject,
  isRequired: boolean,
  input: HTMLInputElement | HTMLSelectElement,
  read: () => unknown,
): Control {
  const note = h('span', { class: 'note', id: newId(), role: 'alert', hidden: true })
  const clear = () => {
    note.hidden = true
    input.removeAttribute('aria-invalid')
    input.removeAttribute('aria-describedby')
  }
  input.addEventListener('input', clear)
  const mark = (locations: readonly ErrorLocation[]) => {
    note.hidden = false
    note.textContent = locations.map(({ message }) => message).join('\n')
    input.setAttribute('aria-invalid', 'true')
    input.setAttribute('aria-describedby', note.id)
  }
  return { element: labelled(name, schema, isRequired, input, note), read, mark, clear }
}

function labelled(name: string, schema: SchemaObject, isRequired: boolean, ...inputs: HTMLElement[]): HTMLElement {
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
