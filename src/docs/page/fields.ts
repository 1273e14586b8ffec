import { type DescriptorInfo, type PartInfo, queryId } from '../../client/description.ts'
import { frameFromJson } from '../../client/frames.ts'
import type { FrameValue } from '../../client/values.ts'
import { hasMembers, resolved } from '../../core/json-schema/shape.ts'
import { arrayOf, arrayView } from './array-view.ts'
import { button, h } from './dom.ts'
import { type Content, type ErrorLocation, type Field, markChildren, newNote } from './field.ts'
import { fileField } from './file-field.ts'
import { imageField, mediaView } from './image-field.ts'
import { printRows } from './schema.ts'
import { jsonField } from './schema-form.ts'
import { frameField } from './table-field.ts'
import { textField } from './text-field.ts'

/**
 * `document` is what references of schemas lead into.
 *
 * @returns the field for an input.
 */
export function fieldOf(info: DescriptorInfo, label: string, document: unknown): Field {
  const { id, args, mimeTypes, schema, example } = info
  const [type = anyType] = mimeTypes
  if (info.parts !== undefined) return new FormField(info.parts, document)
  if (id === 'serving.io.NumpyNdarray' || id === 'serving.io.PandasSeries') {
    return textField({ label, text: printRows(example ?? zeros(args)), preview: arrayPreview })
  }
  if (id === 'serving.io.PandasDataFrame') {
    const orient = String(args.orient)
    return frameField(label, orient, startFrame(orient, example) ?? emptyFrame(args))
  }
  if (id === 'serving.io.Image') {
    const types = mimeTypes.filter((each) => each.startsWith('image/'))
    return imageField(label, types)
  }
  if (id === queryId && !hasMembers(resolved(schema, document))) return anyParameters(label)
  if (id === queryId || /json$/.test(type)) return jsonField(label, schema, example, document)
  if (!type.startsWith('text/') || id === 'serving.io.File') {
    const { mime_type: mimeType = anyType } = args
    const accept = [String(mimeType)].filter((each) => each !== anyType)
    return fileField({ label, accept, show: mediaView })
  }
  const text = typeof example === 'string' ? example : ''
  return textField({ label, type, text, rows: 4 })
}

const anyType = 'application/octet-stream'

function startFrame(orient: string, example: unknown): FrameValue | undefined {
  if (typeof example !== 'object' || example === null) return undefined
  const frame = frameFromJson(example, orient)
  if (Object.keys(frame).length > 0) return frame
  return undefined
}

function emptyFrame({ columns, dtype, required }: DescriptorInfo['args']): FrameValue {
  const named = [columns, Object.keys(Object(dtype)), required] as (readonly string[] | undefined)[]
  const names = named.find((each) => each?.length) ?? ['column']
  return Object.fromEntries(names.map((name) => [name, ['', '']]))
}

/** @returns the field of a query of which nothing is known: parameters of any name. */
function anyParameters(label: string): Field {
  const schema = { type: 'object', additionalProperties: { type: 'string' } }
  return jsonField(label, schema, {}, undefined)
}

const maxZeros = 20_000

const zeroOf: Readonly<Record<string, unknown>> = { bool: false, str: '' }

/** @returns an array of a shape, for one that is too large for an example in the document. */
function zeros({ dtype, shape }: DescriptorInfo['args']): unknown {
  const lengths = [shape ?? []].flat().map((length) => Math.abs(Number(length)))
  const size = lengths.reduce((product, length) => product * length, 1)
  const element = zeroOf[String(dtype)] ?? 0
  if (size === 0 || size > maxZeros) return []
  return lengths.reduceRight<unknown>((inner, length) => new Array(length).fill(inner), element)
}

function arrayPreview(text: string): Element | undefined {
  if (text.length > 2_000_000) return undefined
  try {
    const array = arrayOf(JSON.parse(text))
    return array && arrayView(array)
  } catch {
    return undefined
  }
}

class FormField implements Field {
  readonly element = h('div.parts')
  readonly #note = newNote()
  readonly #parts: ReadonlyMap<string, Part>

  constructor(parts: ReadonlyMap<string, PartInfo>, document: unknown) {
    this.#parts = new Map([...parts].map(([name, info]) => [name, new Part(name, info, document)]))
    this.element.append(this.#note, ...[...this.#parts.values()].map(({ element }) => element))
  }

  read(isDraft?: boolean): Content {
    const parts = [...this.#parts].flatMap(([name, { fields }]) =>
      fields.map((field) => [name, field.read(isDraft)] as const),
    )
    return { type: undefined, data: '', parts }
  }

  write({ parts = [] }: Content): boolean {
    for (const [name, part] of this.#parts) part.write(parts.filter(([other]) => other === name))
    return true
  }

  mark(locations: readonly ErrorLocation[]): void {
    markChildren(locations, this.#parts, this.#note)
  }
}

/** A part of a form: one field, or as many as the form may have of it. */
class Part {
  readonly element: HTMLElement
  readonly fields: Field[] = []
  readonly #note = newNote()
  readonly #list = h('div')
  readonly #isMany: boolean
  readonly #make: () => Field

  constructor(name: string, info: PartInfo, document: unknown) {
    this.#make = () => fieldOf(info, name, document)
    this.#isMany = info.occurrence === 'many'
    const change = (text: string, by: number) =>
      button(`${text} ${name}`, () => this.#resize(this.fields.length + by))
    const isFixed = info.occurrence === 'one'
    const tools = !isFixed && h('div.tools', change('Add', 1), change('Remove', -1))
    this.element = h('fieldset', h('legend', name), tools, this.#list, this.#note)
    this.#resize(Number(isFixed || this.#isMany))
  }

  write(parts: NonNullable<Content['parts']>): void {
    this.#resize(parts.length)
    for (const [i, field] of this.fields.entries()) field.write(parts[i][1])
  }

  mark(locations: readonly ErrorLocation[]): void {
    const places = this.fields.map((field, i) => [this.#isMany ? `[${i}]` : '', field] as const)
    markChildren(locations, places, this.#note)
  }

  #resize(count: number): void {
    const most = this.#isMany ? count : Math.min(count, 1)
    while (this.fields.length > Math.max(0, most)) this.fields.pop()?.element.remove()
    while (this.fields.length < most) {
      const field = this.#make()
      this.fields.push(field)
      this.#list.append(field.element)
    }
  }
}
