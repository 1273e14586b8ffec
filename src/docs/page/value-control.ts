import { textFault } from '../../core/text/text-sample.ts'
import { type Control, heading, inputControl, type Slot } from './control.ts'
import { h } from './dom.ts'
import { boundsOf } from './schema.ts'
import { textField } from './text-field.ts'

const inputTypes: Readonly<Record<string, string>> = {
  date: 'date',
  time: 'time',
  'date-time': 'datetime-local',
  email: 'email',
  uri: 'url',
}

/** @returns the control of a value of few choices. */
export function choiceControl(slot: Slot, choices: readonly unknown[]): Control {
  const options = choices.map((word, i) =>
    h('option', { value: i, selected: word === slot.value }, String(word)),
  )
  const select = h('select', !slot.isRequired && h('option', { value: '' }, ''), ...options)
  return inputControl(slot, select, (text) => (text === '' ? undefined : choices[Number(text)]))
}

/** @returns a value that leaves no choice, as text. */
export function constantControl(slot: Slot, only: unknown): Control {
  const shown = h('code', JSON.stringify(only))
  return {
    element: h('div.member', h('span', ...heading(slot)), shown),
    value: () => only,
    mark: () => {},
  }
}

/** @returns a reader of texts that leaves out an empty one where it may. */
function optional({ isRequired }: Slot, read: (text: string) => unknown) {
  return (text: string) => (text === '' && !isRequired ? undefined : read(text))
}

/** @returns the control of a number, with a slider between its bounds. */
export function numberControl(slot: Slot): Control {
  const { schema, value, label } = slot
  const input = h('input', { type: 'text', inputmode: 'decimal', value: value ?? '' })
  const bounds = boundsOf(schema)
  const isWhole = [schema.type].flat().includes('integer')
  const step = schema.multipleOf ?? (isWhole ? 1 : 'any')
  const valueOf = optional(slot, numberIn)
  if (bounds === undefined) return inputControl(slot, input, valueOf)
  const slider = h('input', {
    type: 'range',
    'aria-label': `${label}: slider`,
    min: bounds.low,
    max: bounds.high,
    step,
    value: value ?? bounds.low,
    oninput: () => {
      input.value = isWhole ? slider.value : String(Number(Number(slider.value).toPrecision(3)))
    },
  })
  input.addEventListener('input', () => {
    slider.value = input.value
  })
  return inputControl(slot, input, valueOf, slider)
}

/**
 * Other text is sent unchanged, so that the answer has the error of the server.
 *
 * @returns the number of a text.
 */
function numberIn(text: string): unknown {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) return text === '' ? undefined : text
  if (/^\s*-?\d+\s*$/.test(text) && !Number.isSafeInteger(number)) return BigInt(text)
  return number
}

/** @returns the control of a text: of a date, an address or a time where the format says so. */
export function textControl(slot: Slot): Control {
  const { schema, value } = slot
  const text = String(value ?? '')
  const valueOf = optional(slot, (typed) => typed)
  if (text.includes('\n'))
    return inputControl(slot, h('textarea', { rows: 4, value: text }), valueOf)
  const input = h('input', { type: inputTypes[String(schema.format)] ?? 'text', step: 'any' })
  input.value = input.type === 'datetime-local' ? localTime(text) : text
  // What the browser's control of that type cannot show is written by hand.
  if (input.value === '' && text !== '') {
    input.type = 'text'
    input.value = text
  }
  const isTime = input.type === 'datetime-local'
  const start = input.value
  const read = (typed: string) => {
    if (typed === start) return valueOf(text)
    return valueOf(isTime && typed !== '' ? timeIn(typed, slot) : typed)
  }
  return inputControl(slot, input, read)
}

/** @returns a time as the browser's control has it, in the zone of the reader. */
function localTime(text: string): string {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) return ''
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

/** @returns a time of the reader's zone in UTC; without a zone where the schema refuses a zone. */
function timeIn(local: string, { schema }: Slot): string {
  const time = new Date(local).toISOString().replace('.000Z', 'Z')
  if (textFault(schema, time) === undefined) return time
  return local
}

/** @returns the control of any value, as JSON. */
export function jsonControl(slot: Slot): Control {
  const { name, label, value } = slot
  const editor = textField({
    label,
    rows: 3,
    text: value === undefined ? '' : JSON.stringify(value),
  })
  return {
    element: h('div.member', name !== '' && h('span', ...heading(slot)), editor.element),
    value: () => optional(slot, parsed)(editor.text().trim()),
    mark: editor.mark,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`Expected JSON, received ${text.slice(0, 40)}`)
  }
}
