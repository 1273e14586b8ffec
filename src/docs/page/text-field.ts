/** Input of texts, and of what descriptors of an application's own read. @module */
import { h } from './dom.ts'
import type { Content, ErrorLocation, Field } from './field.ts'
import { TextEditor } from './text-editor.ts'

/** A text of one media type. */
export class TextField implements Field {
  readonly element: HTMLElement
  readonly #editor: TextEditor
  readonly #type: string

  constructor(label: string, type: string, example: unknown) {
    this.#type = type
    this.#editor = new TextEditor(typeof example === 'string' ? example : '', { label, rows: 4, isCode: false })
    this.element = h('div', {}, this.#editor.element)
  }

  read(): Content {
    return { type: this.#type, data: this.#editor.text }
  }

  mark(locations: readonly ErrorLocation[]): void {
    this.#editor.mark(locations)
  }

  clear(): void {
    this.#editor.clear()
  }
}
