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
  if (info.parts !== undefined) return formField(info.parts, document)
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
  const isOpen = id === queryId && !hasMembers(resolved(schema, document))
  if (id === queryId || /json$/.test(type))
    return jsonField(label, isOpen ? anyParameters : schema, example, document)
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

/** A query of which nothing is known: parameters of any name. */
const anyParameters = { type: 'object', additionalProperties: { type: 'string' } }

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

function formField(infos: ReadonlyMap<string, PartInfo>, document: unknown): Field {
  const note = newNote()
  const parts = Array.from(infos, ([name, info]) => [name, partOf(name, info, document)] as const)
  return {
    element: h('div.parts', note, ...parts.map(([, { element }]) => element)),
    read: (isDraft) => ({
      type: undefined,
      data: '',
      parts: parts.flatMap(([name, { fields }]) =>
        fields.map((field) => [name, field.read(isDraft)] as const),
      ),
    }),
    write: ({ parts: given = [] }) => {
      for (const [name, part] of parts)
        part.write(given.filter(([other]) => other === name).map(([, content]) => content))
      return true
    },
    mark: (locations) => markChildren(locations, parts, note),
  }
}

/** @returns a part of a form: one field, or as many as the form may have of it. */
function partOf(name: string, info: PartInfo, document: unknown) {
  const fields: Field[] = []
  const note = newNote()
  const list = h('div')
  const isMany = info.occurrence === 'many'
  const isFixed = info.occurrence === 'one'
  const resize = (count: number) => {
    const most = isMany ? count : Math.min(count, 1)
    while (fields.length > Math.max(0, most)) fields.pop()?.element.remove()
    while (fields.length < most) {
      const field = fieldOf(info, name, document)
      fields.push(field)
      list.append(field.element)
    }
  }
  const change = (text: string, by: number) =>
    button(`${text} ${name}`, () => resize(fields.length + by))
  const tools = !isFixed && h('div.tools', change('Add', 1), change('Remove', -1))
  resize(Number(isFixed || isMany))
  return {
    element: h('fieldset', h('legend', name), tools, list, note),
    fields,
    write: (contents: readonly Content[]) => {
      resize(contents.length)
      for (const [i, field] of fields.entries()) field.write(contents[i])
    },
    mark: (locations: readonly ErrorLocation[]) => {
      const places = fields.map((field, i) => [isMany ? `[${i}]` : '', field] as const)
      markChildren(locations, places, note)
    },
  }
}
