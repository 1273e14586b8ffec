/** Input of arrays and series: JSON text, looked at as a table, a line or a heat map. @module */
import { arrayOf, arrayView } from './array-view.ts'
import { h } from './dom.ts'
import type { Content, ErrorLocation, Field } from './field.ts'
import { TextEditor } from './text-editor.ts'

/** JSON text with a view of the array that it holds. */
export class ArrayField implements Field {
  readonly element: HTMLElement
  readonly #editor: TextEditor
  readonly #view = h('div', { class: 'look' })

  constructor(label: string, example: unknown) {
    this.#editor = new TextEditor(example === undefined ? '' : printArray(example), {
      label,
      oninput: () => this.#look(),
    })
    this.element = h('div', { class: 'side' }, this.#editor.element, this.#view)
    this.#look()
  }

  read(): Content {
    return { type: 'application/json', data: this.#editor.text }
  }

  mark(locations: readonly ErrorLocation[]): void {
    this.#editor.mark(locations)
  }

  clear(): void {
    this.#editor.clear()
  }

  #look(): void {
    const { text } = this.#editor
    let shown: Element | string = ''
    try {
      const array = text.length > 2_000_000 ? undefined : arrayOf(JSON.parse(text))
      if (array !== undefined) shown = arrayView(array)
    } catch {}
    this.#view.replaceChildren(shown)
  }
}

function printArray(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value)
  return `[${value.map(printArray).join(value.some(Array.isArray) ? ',\n ' : ', ')}]`
}
