/** A text area in which a place can be marked. @module */
import { h } from './dom.ts'
import type { ErrorLocation } from './field.ts'

/** Options of a {@link TextEditor}. */
export interface TextEditorOptions {
  readonly label: string
  readonly rows?: number
  readonly isCode?: boolean
  readonly oninput?: () => void
}

/** A text area over a copy of its text, in which the place of an error is marked. */
export class TextEditor {
  readonly element: HTMLElement
  readonly #area: HTMLTextAreaElement
  readonly #copy = h('div', { class: 'copy', 'aria-hidden': 'true' })
  readonly #note = h('p', { class: 'note', role: 'alert', hidden: true })

  constructor(text: string, { label, rows = 6, isCode = true, oninput }: TextEditorOptions) {
    this.#area = h('textarea', {
      rows,
      'aria-label': label,
      spellcheck: 'false',
      autocapitalize: 'off',
      autocomplete: 'off',
      oninput: () => {
        this.clear()
        oninput?.()
      },
      onscroll: () => {
        this.#copy.scrollTop = this.#area.scrollTop
        this.#copy.scrollLeft = this.#area.scrollLeft
      },
    })
    this.#area.value = text
    this.element = h(
      'div',
      {},
      h('div', { class: isCode ? 'editor code' : 'editor' }, this.#copy, this.#area),
      this.#note,
    )
  }

  get text(): string {
    return this.#area.value
  }

  set text(text: string) {
    this.#area.value = text
    this.clear()
  }

  /** Marks locations by byte or by path in JSON, and shows their messages; of others the messages alone. */
  mark(locations: readonly ErrorLocation[]): void {
    const { text } = this
    const at = locations.map(({ offset, path }) => {
      return offset !== undefined ? characterAt(text, offset) : path !== undefined ? pathAt(text, path) : undefined
    })
    const known = at.filter((range) => range !== undefined).toSorted((a, b) => a[0] - b[0])
    this.#copy.replaceChildren()
    let end = 0
    for (const [from, to] of known) {
      if (from < end) continue
      this.#copy.append(text.slice(end, from), h('mark', {}, text.slice(from, to) || ' '))
      end = to
    }
    this.#copy.append(text.slice(end), '\n')
    this.#area.setAttribute('aria-invalid', 'true')
    this.#note.hidden = false
    this.#note.replaceChildren(...locations.map(({ message }, i) => h('span', {}, `${where(text, at[i])}${message}`)))
    this.#copy.scrollTop = this.#area.scrollTop
    const [first] = known
    if (first !== undefined) {
      this.#area.focus({ preventScroll: true })
      this.#area.setSelectionRange(first[0], first[0])
    }
  }

  clear(): void {
    this.#copy.replaceChildren()
    this.#note.hidden = true
    this.#area.removeAttribute('aria-invalid')
  }
}

type Range = readonly [from: number, to: number]

/** Returns the character at an offset. **Units**: of `offset`, bytes of UTF-8. */
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

/** Returns the range of the value at a path (`user.tags[1]`) in JSON text, or of what holds it. */
export function pathAt(text: string, path: string): Range | undefined {
  const wanted = [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => index ?? key)
  // The keys around the current token; those of lists are counted.
  const keys: (string | number)[] = []
  let [depth, isOpen, range]: [number, boolean, Range | undefined] = [-1, false, undefined]
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{},]|[^\s[\]{},"]+/g)) {
    const last = keys.length - 1
    if (token === ',') {
      if (typeof keys[last] === 'number') keys[last]++
    } else if (token === ']' || token === '}') {
      keys.pop()
      if (keys.length !== depth || !isOpen || range === undefined) continue
      range = [range[0], Math.min(index + 1, range[0] + 200)]
      isOpen = false
    } else if (/^".*:$/s.test(token)) keys[last] = token.replace(/^"|"\s*:$/g, '').replaceAll('\\"', '"')
    else {
      if (keys.length > depth && keys.every((key, i) => String(key) === wanted[i])) {
        depth = keys.length
        isOpen = token === '[' || token === '{'
        range = [index, Math.min(index + token.length, index + 200)]
      }
      if (token === '[' || token === '{') keys.push(token === '[' ? 0 : '')
    }
  }
  return wanted.length === 0 ? undefined : range
}
