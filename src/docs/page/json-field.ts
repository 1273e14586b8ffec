/** Input of JSON: the fields of its schema, or the text. @module */
import type { SchemaObject } from '../../client/description.ts'
import { choice, h } from './dom.ts'
import type { Content, ErrorLocation, Field } from './field.ts'
import { hasMembers, resolved, startOf } from './schema.ts'
import { SchemaForm } from './schema-form.ts'
import { TextEditor } from './text-editor.ts'

/** A JSON value. */
export class JsonField implements Field {
  readonly element: HTMLElement
  readonly #editor: TextEditor
  readonly #schema: SchemaObject
  readonly #document: unknown
  readonly #formBox = h('div')
  #form: SchemaForm | undefined

  constructor(label: string, schema: SchemaObject | undefined, example: unknown, document: unknown) {
    this.#schema = resolved(schema, document)
    this.#document = document
    const start = example ?? startOf(this.#schema, document)
    this.#editor = new TextEditor(JSON.stringify(start, null, 2), { label: `${label} as JSON` })
    if (!hasMembers(this.#schema)) {
      this.element = this.#editor.element
      return
    }
    const choose = choice(`way to give ${label}`, ['Fields', 'JSON'], (chosen) => {
      if (chosen === 0) this.#toFields()
      else if (this.#form !== undefined) this.#editor.text = JSON.stringify(this.#form.read(), null, 2)
      if (chosen === 1) this.#form = undefined
      this.#formBox.hidden = chosen === 1
      this.#editor.element.hidden = chosen === 0
    })
    this.element = h('div', { class: 'tabs' }, choose, this.#formBox, this.#editor.element)
  }

  read(): Content {
    const form = this.#form
    return { type: 'application/json', data: form === undefined ? this.#editor.text : JSON.stringify(form.read()) }
  }

  mark(locations: readonly ErrorLocation[]): void {
    if (this.#form === undefined) this.#editor.mark(locations)
    else this.#form.mark(locations)
  }

  clear(): void {
    this.#editor.clear()
    this.#form?.clear()
  }

  #toFields(): void {
    let value: unknown
    try {
      value = JSON.parse(this.#editor.text)
    } catch {
      value = startOf(this.#schema, this.#document)
    }
    this.#form = new SchemaForm(this.#schema, value, this.#document)
    this.#formBox.replaceChildren(this.#form.element)
  }
}
