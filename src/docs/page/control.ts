import type { SchemaObject } from '../../client/description.ts'
import { faultIn } from '../../core/json-schema/fault.ts'
import { type Child, h } from './dom.ts'
import { type ErrorLocation, newNote, setInvalid, tell } from './field.ts'
import { rulesText } from './schema.ts'

/** The input of one value of a schema. */
export interface Control {
  readonly element: HTMLElement
  /** Whether its parts have controls of their own, which say themselves what they lack. */
  readonly hasInner?: boolean
  /**
   * @returns the value; undefined leaves it out.
   * @throws Error for text that is no JSON.
   */
  value(): unknown
  mark(locations: readonly ErrorLocation[]): void
}

/** A value that a control is for. */
export interface Slot {
  /** Empty for what stands in a list, and for the whole input. */
  readonly name: string
  readonly label: string
  readonly schema: SchemaObject
  readonly isRequired: boolean
  readonly value: unknown
  /** What references of the schema lead into. */
  readonly document: unknown
}

/** @returns the name of a value, its type and its rules. */
export function heading({ name, schema, isRequired }: Slot): Child[] {
  const type = [schema.type].flat().join(' or ')
  const need = isRequired ? 'required' : 'optional'
  const about = [type, rulesText(schema), name !== '' && need, schema.description]
    .filter(Boolean)
    .join(', ')
  return [name, ' ', h('span.dim', about)]
}

/** @returns why a value starts as its schema refuses it; undefined where it fits. */
export function sampleHint(
  {
    schema,
    value,
    isRequired,
    document,
  }: Pick<Slot, 'isRequired' | 'value' | 'document'> & {
    readonly schema: unknown
  },
  hasInner = false,
): HTMLElement | undefined {
  const fault = value === undefined && !isRequired ? undefined : faultIn(value, schema, document)
  if (fault === undefined || (hasInner && fault.isInner)) return undefined
  const where = fault.path === '' ? '' : ` for ${fault.path.replace(/^\./, '')}`
  return h('span.dim', `There is no sample: expected ${fault.wanted}${where}.`)
}

/** @returns what `read` makes of a text; an empty one is left out where it may. */
export function valueOf({ isRequired }: Slot, text: string, read: (text: string) => unknown) {
  return text === '' && !isRequired ? undefined : read(text)
}

/** Joins an input with its label and the place of its messages. */
export function inputControl(
  slot: Slot,
  input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement,
  read: (text: string) => unknown,
): Control {
  const note = newNote()
  const mark = (locations: readonly ErrorLocation[]) => {
    tell(note, locations)
    setInvalid(input, locations.length > 0)
  }
  input.setAttribute('aria-describedby', note.id)
  input.addEventListener('input', () => mark([]))
  if (slot.name === '') input.setAttribute('aria-label', slot.label)
  const parts = [input, note]
  const element =
    slot.name === ''
      ? h('div.member', ...parts)
      : h('label.member', h('span', ...heading(slot)), ...parts)
  return { element, value: () => valueOf(slot, input.value, read), mark }
}
