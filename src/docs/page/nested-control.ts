import type { SchemaObject } from '../../client/description.ts'
import { startOf } from '../../core/json-schema/sample.ts'
import { hasMembers, listOf, membersIn, resolved, shapeOf } from '../../core/json-schema/shape.ts'
import { type Control, heading, type Slot, sampleHint } from './control.ts'
import { button, type Child, h } from './dom.ts'
import { type ErrorLocation, markChildren, newNote } from './field.ts'
import { typeText } from './schema.ts'
import {
  choiceControl,
  constantControl,
  jsonControl,
  numberControl,
  textControl,
} from './value-control.ts'

const maxItems = 100

/** @returns the control of a value. */
function controlOf(given: Omit<Slot, 'schema'> & { readonly schema: unknown }): Control {
  const { schema, isNullable, variants } = shapeOf(given.schema, given.document)
  const slot: Slot = { ...given, schema }
  const make = (inner: Slot) => {
    const control = plainControl(inner, variants)
    const hint = sampleHint(inner, control.hasInner)
    if (hint !== undefined) control.element.append(hint)
    return control
  }
  const isNested =
    variants.length > 0 || ['object', 'array'].includes(String(schema.type)) || hasMembers(schema)
  const isLeft = !slot.isRequired && isNested
  if (!isNullable && !isLeft) return make(slot)
  return stateControl(slot, isNullable, (value) =>
    make({ ...slot, name: '', isRequired: true, value }),
  )
}

/** @returns the control of a value without a name of its own: an item, or the whole input. */
export function unnamedControl(label: string, schema: unknown, value: unknown, document: unknown) {
  return controlOf({ name: '', label, schema, isRequired: true, value, document })
}

function plainControl(slot: Slot, variants: readonly SchemaObject[]): Control {
  const { schema, value } = slot
  const { enum: words, const: only } = schema
  if (variants.length > 0) return unionControl(slot, variants)
  if (only !== undefined && slot.isRequired) return constantControl(slot, only)
  if (only !== undefined) return choiceControl({ ...slot, value: only }, [only])
  if (Array.isArray(words)) return choiceControl(slot, words)
  switch ([schema.type].flat()[0]) {
    case 'boolean':
      return choiceControl(slot, [true, false])
    case 'number':
    case 'integer':
      return numberControl(slot)
    case 'string':
      return textControl(slot)
    case 'array':
      if (listOf(value).length > maxItems) break
      if (Array.isArray(schema.prefixItems) || isSchema(schema.items)) return listControl(slot)
  }
  if (hasMembers(schema) || isSchema(schema.additionalProperties)) return objectControl(slot)
  return jsonControl(slot)
}

function isSchema(value: unknown): boolean {
  return Object(value) === value
}

/** One of several controls, chosen by its name. Each is made when it is first chosen. */
function oneOf(
  label: string,
  makes: readonly (readonly [name: string, make: () => Control])[],
  first: number,
) {
  const box = h('div')
  const controls = new Map<number, Control>()
  const chosen = () => controls.get(select.selectedIndex) as Control
  const show = () => {
    const i = select.selectedIndex
    if (!controls.has(i)) controls.set(i, makes[i][1]())
    box.replaceChildren(chosen().element)
  }
  const options = makes.map(([name], i) => h('option', { value: i, selected: i === first }, name))
  const select = h('select', { 'aria-label': label, onchange: show }, ...options)
  show()
  const mark = (locations: readonly ErrorLocation[]) => chosen().mark(locations)
  return { select, box, value: () => chosen().value(), mark }
}

/** A value that may also be null or left out: which of these is chosen beside its name. */
function stateControl(slot: Slot, isNullable: boolean, make: (value: unknown) => Control): Control {
  const { name, label, schema, value, document } = slot
  const absent = (without: null | undefined): Control => {
    return { element: h('span'), value: () => without, mark: () => {} }
  }
  const makes: [name: string, make: () => Control][] = [
    ['value', () => make(value ?? startOf(schema, document))],
  ]
  if (isNullable) makes.push(['null', () => absent(null)])
  if (!slot.isRequired) makes.push(['left out', () => absent(undefined)])
  const isLeft = value === undefined && !slot.isRequired
  const first = isLeft ? makes.length - 1 : Number(value === null && isNullable)
  const { select, box, ...control } = oneOf(`${label}: value or not`, makes, first)
  select.className = 'state'
  const head = h('span', ...heading({ ...slot, name: name || label }))
  return { ...control, element: h('div.member.slot', h('div.slot-head', head, select), box) }
}

/** A value of several kinds: the kind is chosen first. */
function unionControl(slot: Slot, variants: readonly SchemaObject[]): Control {
  const { value, document } = slot
  const fitting = variants.findIndex((variant) => isOf(value, variant, document))
  const first = Math.max(0, fitting)
  const makes = variants.map((schema, i) => {
    const start = () => (i === first ? value : startOf(schema, document))
    const make = () => controlOf({ ...slot, name: '', schema, value: start() })
    return [variantName(schema, document), make] as const
  })
  const { select, box, ...control } = oneOf(`${slot.label}: kind`, makes, first)
  return { ...control, element: framed(slot, select, box), hasInner: true }
}

function variantName(given: SchemaObject, document: unknown): string {
  const { schema } = shapeOf(given, document)
  const words = membersIn(schema).map((member) => resolved(member.schema, document).const)
  const name = words.find((word) => word !== undefined) ?? schema.title
  return String(name ?? typeText(schema, document).replace(/\s+/g, ' ').slice(0, 60))
}

/** Whether a value may be of a variant: by its type, and by the members that are constant. */
function isOf(value: unknown, given: SchemaObject, document: unknown): boolean {
  const { schema } = shapeOf(given, document)
  if (schema.const !== undefined) return schema.const === value
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  const type = Array.isArray(value) ? 'array' : typeof value
  const wanted = hasMembers(schema) ? 'object' : String(schema.type)
  if (wanted === 'integer') return Number.isInteger(value)
  return (
    wanted === type &&
    membersIn(schema).every(({ name, schema: each, isRequired }) => {
      const member = (value as Record<string, unknown>)[name]
      const { const: only = member } = resolved(each, document)
      return member === undefined ? !isRequired : only === member
    })
  )
}

/** Rows that a person adds to and removes. `changed` is called after each change. */
function growingList<R>(changed = () => {}) {
  const list = h('ol.items')
  const rows = new Set<R>()
  const add = (row: R, isFixed: boolean, ...content: readonly Child[]) => {
    const remove = button('Remove', () => {
      rows.delete(row)
      item.remove()
      changed()
    })
    const item = h('li.item', ...content, !isFixed && remove)
    rows.add(row)
    list.append(item)
    changed()
  }
  return { list, rows, add }
}

/** The members of an object, then entries of any name where the schema takes them. */
function objectControl(slot: Slot): Control {
  const { schema, value, name, label, document } = slot
  const given = Object(value) as Record<string, unknown>
  const note = newNote()
  const members = new Map(
    membersIn(schema).map((member) => {
      const inner = [label, member.name].filter(Boolean).join(', ')
      const of = { ...member, label: inner, value: given[member.name], document }
      return [member.name, controlOf(of)] as const
    }),
  )
  const others = schema.additionalProperties
  const more = Object.entries(given).filter(([key]) => !members.has(key))
  const takesMore = isSchema(others) && Object.keys(others as object).length > 0
  const entries = takesMore || more.length > 0 ? entriesOf(slot, more) : undefined
  const controls = () => [...members, ...(entries?.controls() ?? [])]
  const content = [note, ...[...members.values()].map(({ element }) => element), entries?.element]
  return {
    element: name === '' ? h('div.members', ...content) : framed(slot, ...content),
    hasInner: true,
    value: () => {
      const values = controls().map(([key, control]) => [key, control.value()] as const)
      return Object.fromEntries(values.filter(([, each]) => each !== undefined))
    },
    mark: (locations) => {
      // Offsets count in the whole text.
      const placed = locations.map((location) => ({ ...location, offset: undefined }))
      markChildren(placed, controls(), note)
    },
  }
}

function entriesOf(
  { label, schema: { additionalProperties: schema }, document }: Slot,
  start: readonly [string, unknown][],
) {
  const { list, rows, add } = growingList<{ key: HTMLInputElement; control: Control }>()
  const addEntry = (name: string, value: unknown) => {
    const title = `${label}: name of the entry`
    const key = h('input', { type: 'text', value: name, placeholder: 'name', 'aria-label': title })
    const control = unnamedControl(`${label}: value of the entry`, schema, value, document)
    add({ key, control }, false, key, control.element)
  }
  for (const [name, value] of start) addEntry(name, value)
  const addNext = () => addEntry(`key${rows.size + 1}`, startOf(schema, document))
  return {
    element: h(
      'div',
      // Of a whole input, which has no legend.
      label === '' && h('p.dim', 'Members of any name'),
      list,
      h('div.tools', button('Add entry', addNext)),
    ),
    controls: () => Array.from(rows, ({ key, control }) => [key.value, control] as const),
  }
}

/** The items of a list, to add and to remove; a tuple has its own ones alone. */
function listControl(slot: Slot): Control {
  const { schema, value, label, document } = slot
  const first = listOf(schema.prefixItems)
  const note = newNote()
  const { list, rows, add } = growingList<Control>(() => {
    more.disabled = rows.size >= Number(schema.maxItems ?? Number.POSITIVE_INFINITY)
  })
  const nextSchema = () => first[rows.size] ?? schema.items
  const addItem = (item: unknown) => {
    const control = unnamedControl(`item of ${label}`, nextSchema(), item, document)
    add(control, rows.size < first.length, control.element)
  }
  const more = button('Add item', () => addItem(startOf(nextSchema(), document)))
  for (const item of listOf(value)) addItem(item)
  return {
    element: framed(slot, list, isSchema(schema.items) && h('div.tools', more), note),
    hasInner: true,
    value: () => Array.from(rows, (control) => control.value() ?? null),
    mark: (locations) => {
      const places = Array.from(rows, (control, i) => [`[${i}]`, control] as const)
      markChildren(locations, places, note)
    },
  }
}

function framed(slot: Slot, ...content: readonly Child[]): HTMLElement {
  if (slot.name === '') return h('div', ...content)
  return h('fieldset', h('legend', ...heading(slot)), ...content)
}
