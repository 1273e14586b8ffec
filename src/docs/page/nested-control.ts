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

/**
 * `document`: what references of the schema lead into.
 *
 * @returns the control of a value.
 */
export function controlOf(
  slot: Omit<Slot, 'schema'> & { readonly schema: unknown },
  document: unknown,
): Control {
  const { schema, isNullable, variants } = shapeOf(slot.schema, document)
  const shaped = { ...slot, schema }
  const make = (inner: Slot) => {
    const control = plainControl(inner, variants, document)
    const hint = sampleHint(inner, document, control.hasInner)
    if (hint !== undefined) control.element.append(hint)
    return control
  }
  const isNested =
    variants.length > 0 || ['object', 'array'].includes(String(schema.type)) || hasMembers(schema)
  const isLeft = !slot.isRequired && isNested
  if (!isNullable && !isLeft) return make(shaped)
  const states = ['value']
  if (isNullable) states.push('null')
  if (!slot.isRequired) states.push('left out')
  return stateControl(
    shaped,
    states,
    (value) => make({ ...shaped, name: '', isRequired: true, value }),
    document,
  )
}

function plainControl(slot: Slot, variants: readonly SchemaObject[], document: unknown): Control {
  const { schema, value } = slot
  const { enum: words, const: only } = schema
  if (variants.length > 0) return unionControl(slot, variants, document)
  if (only !== undefined && slot.isRequired) return constantControl(slot, only)
  if (only !== undefined) return choiceControl({ ...slot, value: only }, [only])
  if (Array.isArray(words)) return choiceControl(slot, words)
  const isTuple = Array.isArray(schema.prefixItems)
  switch ([schema.type].flat()[0]) {
    case 'boolean':
      return choiceControl(slot, [true, false])
    case 'number':
    case 'integer':
      return numberControl(slot)
    case 'string':
      return textControl(slot)
    case 'array':
      if (Array.isArray(value) && value.length > maxItems) break
      if (isTuple || Object(schema.items) === schema.items) return listControl(slot, document)
  }
  const isRecord = Object(schema.additionalProperties) === schema.additionalProperties
  if (hasMembers(schema) || isRecord) return objectControl(slot, document)
  return jsonControl(slot)
}

/** A value that may also be null or left out: which of these is chosen beside its name. */
function stateControl(
  slot: Slot,
  states: readonly string[],
  make: (value: unknown) => Control,
  document: unknown,
): Control {
  const { name, label, schema, value } = slot
  const box = h('div')
  let control: Control | undefined
  const show = () => {
    if (select.value === 'value') {
      control ??= make(value ?? startOf(schema, document))
      box.replaceChildren(control.element)
    } else box.replaceChildren()
  }
  const absent = new Map<unknown, string>([
    [null, 'null'],
    [undefined, 'left out'],
  ])
  const first = absent.get(value) ?? 'value'
  const options = states.map((state) => h('option', { selected: state === first }, state))
  const select = h(
    'select.state',
    { 'aria-label': `${label}: value or not`, onchange: show },
    ...options,
  )
  show()
  const valueOf = () => {
    if (select.value === 'value') return control?.value()
    if (select.value === 'null') return null
    return undefined
  }
  return {
    element: h(
      'div.member.slot',
      h('div.slot-head', h('span', ...heading({ ...slot, name: name || label })), select),
      box,
    ),
    value: valueOf,
    mark: (locations) => control?.mark(locations),
  }
}

/** A value of several kinds: the kind is chosen first. */
function unionControl(slot: Slot, variants: readonly SchemaObject[], document: unknown): Control {
  const box = h('div')
  const controls = new Map<number, Control>()
  const chosen = () => controls.get(Number(select.value)) as Control
  const show = (i: number, value: unknown) => {
    if (!controls.has(i))
      controls.set(i, controlOf({ ...slot, name: '', schema: variants[i], value }, document))
    box.replaceChildren(chosen().element)
  }
  const names = variants.map((variant) => variantName(variant, document))
  const first = Math.max(
    0,
    variants.findIndex((variant) => isOf(slot.value, variant, document)),
  )
  const select = h(
    'select',
    {
      'aria-label': `${slot.label}: kind`,
      onchange: () => show(Number(select.value), startOf(variants[Number(select.value)], document)),
    },
    ...names.map((name, i) => h('option', { value: i, selected: i === first }, name)),
  )
  show(first, slot.value)
  return {
    element: framed(slot, select, box),
    hasInner: true,
    value: () => chosen().value(),
    mark: (locations) => chosen().mark(locations),
  }
}

function variantName(given: SchemaObject, document: unknown): string {
  const { schema } = shapeOf(given, document)
  const words = membersIn(schema).map((member) => resolved(member.schema, document).const)
  const name = words.find((word) => word !== undefined) ?? schema.title
  if (name !== undefined) return String(name)
  return typeText(schema, document).replace(/\s+/g, ' ').slice(0, 60)
}

/** Whether a value may be of a variant: by its type, and by the members that are constant. */
function isOf(value: unknown, given: SchemaObject, document: unknown): boolean {
  const { schema } = shapeOf(given, document)
  if (schema.const !== undefined) return schema.const === value
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  const type = Array.isArray(value) ? 'array' : typeof value
  const wanted = hasMembers(schema) ? 'object' : String(schema.type)
  if (wanted === 'integer' ? !Number.isInteger(value) : wanted !== type) return false
  return membersIn(schema).every(({ name, schema: each, isRequired }) => {
    const member = (value as Record<string, unknown>)[name]
    const { const: only } = resolved(each, document)
    if (member === undefined) return !isRequired
    return only === undefined || only === member
  })
}

/** The members of an object, then entries of any name where the schema takes them. */
export function objectControl(slot: Slot, document: unknown): Control {
  const { schema, value, name, label } = slot
  const given = Object(value) as Record<string, unknown>
  const note = newNote()
  const members = new Map(
    membersIn(schema).map((member) => {
      const inner = {
        ...member,
        label: label === '' ? member.name : `${label}, ${member.name}`,
        value: given[member.name],
      }
      return [member.name, controlOf(inner, document)] as const
    }),
  )
  const others = schema.additionalProperties
  const more = Object.entries(given).filter(([key]) => !members.has(key))
  const takesMore = Object(others) === others && Object.keys(others as object).length > 0
  const entries = takesMore || more.length > 0 ? entriesOf(slot, more, others, document) : undefined
  const controls = () => [...members, ...(entries?.controls() ?? [])]
  const content = [note, ...[...members.values()].map(({ element }) => element), entries?.element]
  return {
    element: name === '' ? h('div.members', ...content) : framed(slot, ...content),
    hasInner: true,
    value: () => {
      const values = controls().map(([key, control]) => [key, control.value()] as const)
      return Object.fromEntries(values.filter(([, each]) => each !== undefined))
    },
    mark: (locations: readonly ErrorLocation[]) => {
      // Offsets count in the whole text.
      const placed = locations.map((location) => ({ ...location, offset: undefined }))
      markChildren(placed, controls(), note)
    },
  }
}

function entriesOf(
  { label }: Slot,
  start: readonly [string, unknown][],
  schema: unknown,
  document: unknown,
) {
  const list = h('div.items')
  const entries = new Set<{ readonly key: HTMLInputElement; readonly control: Control }>()
  const add = (name: string, value: unknown) => {
    const key = h('input', {
      type: 'text',
      value: name,
      placeholder: 'name',
      'aria-label': `${label}: name of the entry`,
    })
    const control = controlOf(
      { name: '', label: `${label}: value of the entry`, schema, isRequired: true, value },
      document,
    )
    const entry = { key, control }
    const remove = button('Remove', () => {
      entries.delete(entry)
      row.remove()
    })
    const row = h('div.item', key, control.element, remove)
    entries.add(entry)
    list.append(row)
  }
  for (const [name, value] of start) add(name, value)
  return {
    element: h(
      'div',
      // Of a whole input, which has no legend.
      label === '' && h('p.dim', 'Members of any name'),
      list,
      h(
        'div.tools',
        button('Add entry', () => add(`key${entries.size + 1}`, startOf(schema, document))),
      ),
    ),
    controls: () => Array.from(entries, ({ key, control }) => [key.value, control] as const),
  }
}

/** The items of a list, to add and to remove; a tuple has its own ones alone. */
function listControl(slot: Slot, document: unknown): Control {
  const { schema, value, label } = slot
  const first = listOf(schema.prefixItems)
  const isOpen = Object(schema.items) === schema.items
  const most = Number(schema.maxItems ?? Number.POSITIVE_INFINITY)
  const note = newNote()
  const list = h('ol.items')
  const items = new Set<Control>()
  const nextSchema = () => first[items.size] ?? schema.items
  const limit = () => {
    more.disabled = items.size >= most
  }
  const add = (item: unknown) => {
    const inner = { name: '', label: `item of ${label}`, isRequired: true, value: item }
    const control = controlOf({ ...inner, schema: nextSchema() }, document)
    const remove = button('Remove', () => {
      items.delete(control)
      row.remove()
      limit()
    })
    const row = h('li.item', control.element, items.size >= first.length && remove)
    items.add(control)
    list.append(row)
    limit()
  }
  const more = button('Add item', () => add(startOf(nextSchema(), document)))
  for (const item of listOf(value)) add(item)
  return {
    element: framed(slot, list, isOpen && h('div.tools', more), note),
    hasInner: true,
    value: () => Array.from(items, (control) => control.value() ?? null),
    mark: (locations) => {
      const places = Array.from(items, (control, i) => [`[${i}]`, control] as const)
      markChildren(locations, places, note)
    },
  }
}

function framed(slot: Slot, ...content: readonly Child[]): HTMLElement {
  if (slot.name === '') return h('div', ...content)
  return h('fieldset', h('legend', ...heading(slot)), ...content)
}
