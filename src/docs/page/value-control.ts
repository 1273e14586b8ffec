import { type Control, heading, inputControl, type Slot, valueOf } from './control.ts'
import { h } from './dom.ts'
import { textField } from './text-field.ts'

const inputTypes: Readonly<Record<string, string>> = {
  date: 'date',
  time: 'time',
  email: 'email',
  uri: 'url',
}

/** @returns the control of a value of few choices. */
export function choiceControl(slot: Slot, choices: readonly unknown[]): Control {
  const options = choices.map((word, i) =>
    h('option', { value: i, selected: word === slot.value }, String(word)),
  )
  const select = h('select', !slot.isRequired && h('option', { value: '' }, ''), ...options)
  return inputControl(slot, select, (text) => choices[Number(text)])
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

/** @returns the control of a number. */
export function numberControl(slot: Slot): Control {
  const input = h('input', { type: 'text', inputmode: 'decimal', value: slot.value ?? '' })
  return inputControl(slot, input, numberIn)
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

/** @returns the control of a text: of a date, a time or an address where the format says so. */
export function textControl(slot: Slot): Control {
  const { schema, value } = slot
  const text = String(value ?? '')
  if (text.includes('\n'))
    return inputControl(slot, h('textarea', { rows: 4, value: text }), String)
  const type = inputTypes[String(schema.format)] ?? 'text'
  const input = h('input', { type, step: 'any', value: text })
  // What the browser's control of that type cannot show is written by hand.
  if (input.value !== text) {
    input.type = 'text'
    input.value = text
  }
  return inputControl(slot, input, String)
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
    value: () => valueOf(slot, String(editor.read().data).trim(), parsed),
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
