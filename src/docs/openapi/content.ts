import type { Api } from '../../api/api.ts'
import {
  exampleIn,
  type FieldDescription,
  type FormatDescription,
  type JsonSchema,
} from '../../descriptors/description.ts'
import { isJsonText, mediaTypeOf } from '../../http/media-type.ts'
import { type Components, extended } from './components.ts'

/** An example object of OpenAPI. */
export type ExampleObject = { readonly value: unknown } | { readonly externalValue: string }

/** A media type object of OpenAPI. */
export interface MediaTypeObject {
  readonly schema: JsonSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, ExampleObject>>
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>
}

/** Content by media type. */
export type Content = Readonly<Record<string, MediaTypeObject>>

// OpenAPI 3.1 leaves the schema of bytes out; generators of clients know them by this one.
const bytes: JsonSchema = { type: 'string', format: 'binary' }

/** @returns formats as content; `name` is for schemas that become components. */
export function contentOf(
  formats: readonly FormatDescription[],
  components: Components,
  name: string,
): Content {
  return Object.fromEntries(
    formats.map((format) => [format.mimeType, mediaTypeObject(format, components, name)]),
  )
}

// Longer ones would make the document hard to read.
const maxInline = 10_000

/**
 * @returns the content with the examples of an API; those of bytes by their path below the
 * document.
 */
export function withExamples(
  content: Content,
  { name, examples }: Pick<Api, 'name' | 'examples'>,
): Content {
  const media = { ...content }
  for (const [i, { name: title, headers, body }] of examples.entries()) {
    const type = mediaTypeOf(headers.find(([key]) => key === 'content-type')?.[1])
    const key = type !== undefined && type.essence in media ? type.essence : Object.keys(media)[0]
    const isJson = isJsonText(type?.essence)
    const isInline = body.length <= maxInline && (isJson || type?.essence.startsWith('text/'))
    const inline = isInline ? inlineExample(body, isJson) : {}
    const shown =
      'example' in inline ? { value: inline.example } : { externalValue: examplePath(name, i) }
    const { example: _, examples: others, ...rest } = media[key]
    media[key] = { ...rest, examples: { ...others, [title]: shown } }
  }
  return media
}

/** @returns where an example is served, below the base URL. */
export function examplePath(api: string, index: number): string {
  return `docs/examples/${api}/${index}`
}

function inlineExample(body: Uint8Array, isJson: boolean): JsonSchema {
  const text = Buffer.from(body).toString()
  if (isJson) return exampleIn(text)
  return { example: text }
}

function mediaTypeObject(
  format: FormatDescription,
  components: Components,
  name: string,
): MediaTypeObject {
  const { schema, example, fields } = format
  if (fields !== undefined) return formObject(fields, components, name)
  if (schema === undefined) return { schema: isJsonText(format.mimeType) ? {} : bytes }
  return { schema: components.adopt(schema, name), example }
}

function formObject(
  fields: readonly FieldDescription[],
  components: Components,
  name: string,
): MediaTypeObject {
  const required = fields
    .filter(({ occurrence }) => occurrence === 'one')
    .map((field) => field.name)
  const properties = fields.map((field) => {
    return [field.name, fieldSchema(field, components, `${name}_${field.name}`)]
  })
  const encoding = fields.map((field) => {
    const contentType = field.formats.map(({ mimeType }) => mimeType).join(', ')
    return [field.name, { contentType }]
  })
  const schema = { type: 'object', properties: Object.fromEntries(properties) }
  return {
    schema: { ...schema, ...(required.length > 0 && { required }) },
    encoding: Object.fromEntries(encoding),
  }
}

/**
 * One of JSON is a string that holds JSON: a list would be as many parts.
 *
 * @returns the schema of a part.
 */
function fieldSchema(
  { occurrence, formats }: FieldDescription,
  components: Components,
  name: string,
): JsonSchema {
  const one = partSchema(formats[0], components, name)
  if (occurrence === 'many') return { type: 'array', items: one }
  return one
}

function partSchema(
  format: FormatDescription | undefined,
  components: Components,
  name: string,
): JsonSchema {
  if (format === undefined) return bytes
  const { mimeType, schema, example } = format
  if (isJsonText(format.mimeType)) {
    const contentSchema = components.adopt(schema ?? {}, name)
    const examples = example === undefined ? undefined : [JSON.stringify(example)]
    return { type: 'string', contentMediaType: mimeType, contentSchema, examples }
  }
  if (schema === undefined) return bytes
  const adopted = components.adopt(schema, name)
  if (example === undefined) return adopted
  return extended(adopted, { examples: [example] })
}
