/** The field for each kind of descriptor, and forms of them. @module */
import { type DescriptorInfo, type PartInfo, queryId } from '../../client/description.ts'
import { ArrayField } from './array-field.ts'
import { h } from './dom.ts'
import type { Content, ErrorLocation, Field } from './field.ts'
import { FileField } from './file-field.ts'
import { FrameField } from './frame-field.ts'
import { ImageField } from './image-field.ts'
import { JsonField } from './json-field.ts'
import { TextField } from './text-field.ts'

/** Returns the field for an input. `document` is what references of schemas lead into. */
export function fieldOf(info: DescriptorInfo, label: string, document: unknown): Field {
  const { id, args, mimeTypes, schema, example } = info
  if (info.parts !== undefined) return new FormField(info.parts, document)
  switch (id) {
    case 'serving.io.NumpyNdarray':
    case 'serving.io.PandasSeries':
      return new ArrayField(label, example)
    case 'serving.io.PandasDataFrame':
      return new FrameField(label, String(args.orient), typeof example === 'string' ? undefined : example)
    case 'serving.io.JSON':
    case queryId:
      return new JsonField(label, schema, example, document)
    case 'serving.io.Text':
      return new TextField(label, 'text/plain; charset=utf-8', example)
    case 'serving.io.Image':
      return new ImageField(
        label,
        mimeTypes.filter((type) => type.startsWith('image/')),
      )
    case 'serving.io.File':
      return new FileField({ label, accept: [] })
  }
  const [type = 'application/octet-stream'] = mimeTypes
  if (/json$/.test(type)) return new JsonField(label, schema, example, document)
  return type.startsWith('text/') ? new TextField(label, type, example) : new FileField({ label, accept: [] })
}

class FormField implements Field {
  readonly element = h('div', { class: 'parts' })
  readonly #note = h('p', { class: 'note', role: 'alert', hidden: true })
  readonly #parts: Part[]

  constructor(parts: ReadonlyMap<string, PartInfo>, document: unknown) {
    this.#parts = [...parts].map(([name, info]) => new Part(name, info, document))
    this.element.append(this.#note, ...this.#parts.map(({ element }) => element))
  }

  read(): Content {
    const parts = this.#parts.flatMap(({ name, fields }) => fields.map((field) => [name, field.read()] as const))
    return { type: undefined, data: '', parts }
  }

  mark(locations: readonly ErrorLocation[]): void {
    const others = locations.filter((location) => !this.#parts.some((part) => part.takes(location)))
    this.#note.hidden = others.length === 0
    this.#note.textContent = others.map(({ message }) => message).join('\n')
    for (const part of this.#parts) part.mark(locations)
  }

  clear(): void {
    this.#note.hidden = true
    for (const part of this.#parts) for (const field of part.fields) field.clear()
  }
}

class Part {
  readonly name: string
  readonly element: HTMLElement
  readonly fields: Field[] = []

  constructor(name: string, info: PartInfo, document: unknown) {
    this.name = name
    const { occurrence } = info
    const list = h('div', {})
    const add = () => {
      const field = fieldOf(info, name, document)
      this.fields.push(field)
      list.append(field.element)
    }
    const remove = () => this.fields.pop()?.element.remove()
    const button = (text: string, onclick: () => void) => h('button', { type: 'button', onclick }, text)
    const isSent = h('input', { type: 'checkbox', onchange: () => (isSent.checked ? add() : remove()) })
    const tools =
      occurrence === 'many'
        ? h('div', { class: 'tools' }, button(`Add ${name}`, add), button(`Remove ${name}`, remove))
        : occurrence === 'optional' && h('label', {}, isSent, ' send this part')
    this.element = h('fieldset', {}, h('legend', {}, name), tools, list)
    if (occurrence !== 'optional') add()
  }

  takes({ path = '' }: ErrorLocation): boolean {
    return this.#field(path) !== undefined
  }

  mark(locations: readonly ErrorLocation[]): void {
    const byField = new Map<Field, ErrorLocation[]>()
    for (const location of locations) {
      const found = this.#field(location.path ?? '')
      if (found === undefined) continue
      const [field, path] = found
      byField.set(field, [...(byField.get(field) ?? []), { ...location, path: path === '' ? undefined : path }])
    }
    for (const [field, own] of byField) field.mark(own)
  }

  #field(path: string): readonly [Field, string] | undefined {
    if (path !== this.name && !path.startsWith(`${this.name}.`) && !path.startsWith(`${this.name}[`)) return undefined
    const rest = path.slice(this.name.length)
    const [, index, inner] = this.fields.length > 1 ? (/^\[(\d+)\](.*)$/s.exec(rest) ?? []) : []
    const field = this.fields[Number(index ?? 0)]
    return field === undefined ? undefined : [field, (inner ?? rest).replace(/^\./, '')]
  }
}
