import type { SchemaObject } from '../../client/description.ts'
import { h } from './dom.ts'
import { type ErrorLocation, type Field, isJson, markChildren, newNote, setInvalid, tell, Ways } from './field.ts'
import { hasMembers, membersIn, resolved, startOf } from './schema.ts'
import { textField } from './text-field.ts'

/** Returns the field of a JSON value: the members of its schema, or the text. */
export function jsonField(label: string, schema: unknown, example: unknown, document: unknown): Field {
  const known = resolved(schema, document)
  const start = example ?? startOf(known, document)
  const text = textField({ label: `${label} as JSON`, text: JSON.stringify(start, null, 2) })
  if (!hasMembers(known)) return text
  const form = membersOf(known, start, document)
  const fields: Field = {
    ...form,
    read: () => ({ type: 'application/json', data: JSON.stringify(form.value(), null, 2) }),
    write: (content) => {
      const isMine = isJson(content)
      if (isMine) form.show(JSON.parse(content.data))
      return isMine
    },
  }
  return new Ways(label, { Fields: fields, JSON: text })
}

interface Control {
  readonly element: HTMLElement
  value(): unknown
  mark(locations: readonly ErrorLocation[]): void
}

function membersOf(schema: SchemaObject, start: unknown, document: unknown) {
  const note = newNote()
  const element = h('div.members')
  const controls = new Map<string, Control>()
  const show = (value: unknown) => {
    const given = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
    for (const member of membersIn(schema)) {
      const { name } = member
      const own = { ...member, schema: resolved(member.schema, document), value: given[name] }
      controls.set(name, controlOf(own, document))
    }
    element.replaceChildren(note, ...[...controls.values()].map((control) => control.element))
  }
  const value = () => {
    const members = [...controls].map(([name, control]) => [name, control.value()] as const)
    return Object.fromEntries(members.filter(([, each]) => each !== undefined))
  }
  const mark = (locations: readonly ErrorLocation[]) => {
    // Offsets count in the whole text.
    const placed = locations.map((location) => ({ ...location, offset: undefined }))
    markChildren(placed, controls, note)
  }
  show(start)
  return { element, show, value, mark }
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
    const form = membersOf(schema, value, document)
    return { ...form, element: h('fieldset', h('legend', name), form.element) }
  }
  if (Array.isArray(words) || type === 'boolean') {
    const choices: readonly unknown[] = Array.isArray(words) ? words : [true, false]
    const options = choices.map((word, i) => h('option', { value: i, selected: word === value }, String(word)))
    const select = h('select', !isRequired && h('option', { value: '' }, ''), ...options)
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
  const editor = textField({ label: name, rows: 3, text: value === undefined ? '' : JSON.stringify(value) })
  return {
    element: labelled(member, editor.element),
    value: () => (editor.text().trim() === '' && !isRequired ? undefined : parsed(editor.text())),
    mark: editor.mark,
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
  return { element: labelled(member, input, note), value: () => valueOf(input.value), mark }
}

function labelled({ name, schema, isRequired }: Member, ...inputs: HTMLElement[]): HTMLElement {
  const types = [schema.type].flat().join(' or ')
  const about = [types, isRequired ? '' : 'optional', schema.description].filter(Boolean).join(', ')
  return h('label.member', h('span', name, ' ', h('span.dim', about)), ...inputs)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`Expected JSON, received ${text.slice(0, 40)}`)
  }
}
