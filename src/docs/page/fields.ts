/** The field for each kind of descriptor, and forms of them. @module */
import { type DescriptorInfo, type PartInfo, queryId } from '../../client/description.ts'
import { frameFromJson } from '../../client/frames.ts'
import { arrayOf, arrayView } from './array-view.ts'
import { button, h } from './dom.ts'
import { type Content, type ErrorLocation, type Field, newNote, tell } from './field.ts'
import { FileField } from './file-field.ts'
import { imageField, mediaView } from './image-field.ts'
import { printRows } from './schema.ts'
import { jsonField } from './schema-form.ts'
import { frameField } from './table-field.ts'
import { TextField } from './text-field.ts'

/** Returns the field for an input. `document` is what references of schemas lead into. */
export function fieldOf(info: DescriptorInfo, label: string, document: unknown): Field {
  const { id, args, mimeTypes, schema, example } = info
  const [type = 'application/octet-stream'] = mimeTypes
  if (info.parts !== undefined) return new FormField(info.parts, document)
  if (id === 'serving.io.NumpyNdarray' || id === 'serving.io.PandasSeries') {
    return new TextField({ label, text: printRows(example ?? zeros(args)), preview: arrayPreview })
  }
  if (id === 'serving.io.PandasDataFrame') {
    const columns = Array.isArray(args.columns) ? args.columns : ['column']
    const frame = typeof example === 'object' && example !== null ? frameFromJson(example, String(args.orient)) : {}
    const empty = Object.fromEntries(columns.map((name) => [name, ['', '']]))
    return frameField(label, String(args.orient), Object.keys(frame).length > 0 ? frame : empty)
  }
  if (id === 'serving.io.Image') {
    const accept = mimeTypes.filter((each) => each.startsWith('image/'))
    return imageField(label, accept)
  }
  if (id === queryId || /json$/.test(type)) return jsonField(label, schema, example, document)
  if (!type.startsWith('text/') || id === 'serving.io.File') {
    return new FileField({ label, accept: args.mime_type ? [String(args.mime_type)] : [], show: mediaView })
  }
  const text = typeof example === 'string' ? example : ''
  return new TextField({ label, type, text, rows: 4 })
}

const maxZeros = 20_000

/** Returns an array of a shape, for one that is too large for an example in the document. */
function zeros({ dtype, shape }: DescriptorInfo['args']): unknown {
  const lengths = (Array.isArray(shape) ? shape : []).map((length) => Math.abs(Number(length)))
  const size = lengths.reduce((product, length) => product * length, 1)
  const element = dtype === 'bool' ? false : dtype === 'str' ? '' : 0
  return lengths.reduceRight<unknown>(
    (inner, length) => new Array(length).fill(inner),
    size > 0 && size <= maxZeros ? element : [],
  )
}

function arrayPreview(text: string): Element | undefined {
  try {
    const array = text.length > 2_000_000 ? undefined : arrayOf(JSON.parse(text))
    return array && arrayView(array)
  } catch {
    return undefined
  }
}

class FormField implements Field {
  readonly element = h('div', { class: 'parts' })
  readonly #note = newNote()
  readonly #parts: Part[]

  constructor(parts: ReadonlyMap<string, PartInfo>, document: unknown) {
    this.#parts = [...parts].map(([name, info]) => new Part(name, info, document))
    this.element.append(this.#note, ...this.#parts.map(({ element }) => element))
  }

  read(isDraft?: boolean): Content {
    const parts = this.#parts.flatMap(({ name, fields }) => fields.map((field) => [name, field.read(isDraft)] as const))
    return { type: undefined, data: '', parts }
  }

  write({ parts }: Content): boolean {
    for (const part of this.#parts) part.write((parts ?? []).filter(([name]) => name === part.name))
    return parts !== undefined
  }

  mark(locations: readonly ErrorLocation[]): void {
    const isTaken = ({ path = '' }: ErrorLocation) => this.#parts.some((part) => part.find(path) !== undefined)
    tell(
      this.#note,
      locations.filter((location) => !isTaken(location)),
    )
    for (const part of this.#parts) part.mark(locations)
  }
}

class Part {
  readonly name: string
  readonly element: HTMLElement
  readonly fields: Field[] = []
  readonly #list = h('div')
  readonly #isSent: HTMLInputElement
  readonly #make: () => Field

  constructor(name: string, info: PartInfo, document: unknown) {
    this.name = name
    this.#make = () => fieldOf(info, name, document)
    const { occurrence } = info
    const resize = (change: () => number) => () => this.#resize(change())
    this.#isSent = h('input', { type: 'checkbox', onchange: resize(() => Number(this.#isSent.checked)) })
    const tools =
      occurrence === 'many'
        ? h(
            'div',
            { class: 'tools' },
            button(
              `Add ${name}`,
              resize(() => this.fields.length + 1),
            ),
            button(
              `Remove ${name}`,
              resize(() => this.fields.length - 1),
            ),
          )
        : occurrence === 'optional' && h('label', {}, this.#isSent, ' send this part')
    this.element = h('fieldset', {}, h('legend', {}, name), tools, this.#list)
    this.#resize(occurrence === 'optional' ? 0 : 1)
  }

  write(parts: NonNullable<Content['parts']>): void {
    this.#resize(parts.length)
    for (const [i, [, content]] of parts.entries()) this.fields[i].write(content)
  }

  mark(locations: readonly ErrorLocation[]): void {
    for (const field of this.fields) {
      const own = locations.flatMap((location) => {
        const [found, path] = this.find(location.path ?? '') ?? []
        return found === field ? { ...location, path: path || undefined } : []
      })
      field.mark(own)
    }
  }

  /** Returns the field that a path leads into, and the path within. */
  find(path: string): readonly [Field, string] | undefined {
    if (path !== this.name && !path.startsWith(`${this.name}.`) && !path.startsWith(`${this.name}[`)) return undefined
    const rest = path.slice(this.name.length)
    const [, index, inner] = this.fields.length > 1 ? (/^\[(\d+)\](.*)$/s.exec(rest) ?? []) : []
    const field = this.fields[Number(index ?? 0)]
    return field === undefined ? undefined : [field, (inner ?? rest).replace(/^\./, '')]
  }

  #resize(count: number): void {
    while (this.fields.length > Math.max(0, count)) this.fields.pop()?.element.remove()
    while (this.fields.length < count) {
      const field = this.#make()
      this.fields.push(field)
      this.#list.append(field.element)
    }
    this.#isSent.checked = count > 0
  }
}
