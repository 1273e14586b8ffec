import { h } from './dom.ts'
import { type ErrorLocation, type Field, isJson, newNote, setInvalid } from './field.ts'

/** Options of {@link textField}. */
export interface TextFieldOptions {
  readonly label: string
  readonly type?: string
  readonly text?: string
  readonly rows?: number
  /** Shows below what the text means. */
  readonly preview?: (text: string) => Element | undefined
}

/** @returns a text area over a copy of its text, in which places are marked. */
export function textField({
  label,
  type = 'application/json',
  text: start = '',
  rows = 6,
  preview,
}: TextFieldOptions): Field {
  const copy = h('div.copy', { 'aria-hidden': 'true' })
  const note = newNote()
  const look = h('div.look')
  /** Marks locations by byte or by path in JSON, and shows their messages; of others the messages alone. */
  const mark = (locations: readonly ErrorLocation[]) => {
    const text = area.value
    const at = locations.map(({ offset, path }) => {
      if (offset !== undefined) return characterAt(text, offset)
      if (path === undefined) return undefined
      return pathAt(text, path)
    })
    const known = at.filter((range) => range !== undefined).toSorted((a, b) => a[0] - b[0])
    const marked: (string | Node)[] = []
    let end = 0
    for (const [from, to] of known) {
      if (from < end) continue
      marked.push(text.slice(end, from), h('mark', text.slice(from, to) || ' '))
      end = to
    }
    copy.replaceChildren(...marked, text.slice(end), '\n')
    setInvalid(area, locations.length > 0)
    note.hidden = locations.length === 0
    note.replaceChildren(
      ...locations.map(({ message }, i) => h('span', `${where(text, at[i])}${message}`)),
    )
    copy.scrollTop = area.scrollTop
    const [first] = known
    if (first === undefined) return
    area.focus({ preventScroll: true })
    area.setSelectionRange(first[0], first[0])
  }
  const changed = () => {
    mark([])
    look.replaceChildren(preview?.(area.value) ?? '')
  }
  const area = h('textarea', {
    rows,
    'aria-label': label,
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    oninput: changed,
    onscroll: () => copy.scrollTo(area.scrollLeft, area.scrollTop),
    value: start,
  })
  changed()
  return {
    element: h(
      'div',
      h(type.endsWith('json') ? 'div.editor.code' : 'div.editor', copy, area),
      note,
      look,
    ),
    read: () => ({ type, data: area.value }),
    write: (content) => {
      const { data } = content
      // Of another kind than text: a picture, or a CSV file for JSON.
      if (typeof data !== 'string' || (/json/.test(type) && !isJson(content))) return false
      area.value = data
      changed()
      return true
    },
    mark,
  }
}

type Range = readonly [from: number, to: number]

/**
 * **Units**: of `offset`, bytes of UTF-8.
 *
 * @returns the character at an offset.
 */
export function characterAt(text: string, offset: number): Range {
  const bytes = new TextEncoder().encode(text)
  const from = new TextDecoder().decode(bytes.subarray(0, offset)).length
  const length = String.fromCodePoint(text.codePointAt(from) ?? 32).length
  return [from, Math.min(text.length, from + length)]
}

function where(text: string, range: Range | undefined): string {
  if (range === undefined) return ''
  const before = text.slice(0, range[0]).split('\n')
  return `Line ${before.length}, column ${(before.at(-1) as string).length + 1}: `
}

/** @returns the range of the value at a path (`user.tags[1]`) in JSON text, or of what holds it. */
export function pathAt(text: string, path: string): Range | undefined {
  const wanted = [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => index ?? key)
  // The keys around the current token; those of lists are counted.
  const keys: (string | number)[] = []
  let [depth, isOpen, range]: [number, boolean, Range | undefined] = [-1, false, undefined]
  for (const { 0: token, index } of text.matchAll(
    /"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{},]|[^\s[\]{},"]+/g,
  )) {
    const last = keys.length - 1
    if (token === ',') {
      if (typeof keys[last] === 'number') keys[last]++
    } else if (token === ']' || token === '}') {
      keys.pop()
      if (keys.length !== depth || !isOpen || range === undefined) continue
      range = [range[0], Math.min(index + 1, range[0] + 200)]
      isOpen = false
    } else if (/^".*:$/s.test(token))
      keys[last] = token.replace(/^"|"\s*:$/g, '').replaceAll('\\"', '"')
    else {
      if (keys.length > depth && keys.every((key, i) => String(key) === wanted[i])) {
        depth = keys.length
        isOpen = token === '[' || token === '{'
        range = [index, Math.min(index + token.length, index + 200)]
      }
      if (token === '[' || token === '{') keys.push(token === '[' ? 0 : '')
    }
  }
  if (wanted.length === 0) return undefined
  return range
}
