import type { ApiInfo, DescriptorInfo } from './description.ts'
import { printJson } from './exact-json.ts'
import { frameToJson, seriesToJson } from './frames.ts'
import { encodeNpy, isTyped } from './npy.ts'
import { badArgument } from './serving-error.ts'
import { readStreams } from './streams.ts'
import type { ArrayInput, Cell, FrameInput } from './values.ts'

/** A body that can be sent again. */
export interface EncodedBody {
  /** Undefined for a form, whose type `fetch` makes with its boundary. */
  readonly type: string | undefined
  readonly body: string | Blob | FormData | ReadableStream<Uint8Array>
  readonly name?: string
}

/**
 * @returns a path with the values of its `{name}` segments.
 * @throws ServingError `bad_input` for one without.
 */
export function fillPath(
  path: string,
  params: Readonly<Record<string, unknown>>,
  api: string,
): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name] ?? '')
    // URL parsers drop segments of dots.
    if (['', '.', '..'].includes(value)) throw badArgument(`a value for params.${name}`, api)
    return encodeURIComponent(value)
  })
}

/**
 * @returns the query of an API with its `?`, empty without parameters.
 * @throws ServingError `bad_input`.
 */
export function encodeQuery(value: unknown, api: string): string {
  if (typeof value !== 'object' && value !== undefined)
    throw badArgument('an object of parameters', api)
  const query = new URLSearchParams()
  for (const [name, given] of Object.entries(value ?? {})) {
    for (const each of [given].flat()) {
      if (each === undefined || each === null) continue
      query.append(name, each instanceof Date ? each.toISOString() : String(each))
    }
  }
  return query.size === 0 ? '' : `?${query}`
}

/**
 * Encodes the argument of an API, whose streams are read first where they cannot be sent.
 *
 * @throws ServingError `bad_input` for what the API does not take.
 */
export async function encodeArgument(
  { name, input }: ApiInfo,
  given: unknown,
): Promise<EncodedBody> {
  const value = await readStreams(input, given)
  return input.parts === undefined
    ? encodeValue(input, value, name)
    : encodeForm(input, value, name)
}

function encodeForm({ parts }: DescriptorInfo, value: unknown, api: string): EncodedBody {
  if (typeof value !== 'object' || value === null)
    throw badArgument('an object with a value for each part', api)
  const form = new FormData()
  for (const [name, part] of parts ?? []) {
    const given = (value as Record<string, unknown>)[name]
    if (given === undefined && part.occurrence !== 'many') {
      if (part.occurrence === 'one') throw badArgument(`a value for the part ${name}`, api)
      continue
    }
    const values = part.occurrence === 'many' ? ((given ?? []) as Iterable<unknown>) : [given]
    for (const each of values) {
      const { type, body, name: file } = encodeValue(part, each, `the part ${name} of ${api}`)
      appendPart(
        form,
        name,
        body instanceof Blob ? body : new Blob([body as string], { type }),
        file,
      )
    }
  }
  return { type: undefined, body: form }
}

/** Appends a part to a form. */
export function appendPart(form: FormData, name: string, content: Blob, file = ''): void {
  // No bytes and no name would say that no file was chosen.
  if (content.size === 0 && file === '') form.append(name, '')
  // A Blob, not a text: the line ends of texts become CRLF in forms.
  else form.append(name, content, file)
}

function encodeValue({ id, args }: DescriptorInfo, value: unknown, api: string): EncodedBody {
  switch (id) {
    case 'serving.io.NumpyNdarray':
      return isTyped(value as ArrayInput)
        ? blobBody(encodeNpy(value as ArrayInput, api))
        : json(value)
    case 'serving.io.PandasDataFrame':
      if (value instanceof Blob) return blobBody(value)
      if (typeof value !== 'object' || value === null) throw badArgument('columns or rows', api)
      return json(frameToJson(value as Exclude<FrameInput, Blob>, String(args.orient), api))
    case 'serving.io.PandasSeries':
      if (typeof (value as ArrayLike<Cell>)?.length !== 'number') throw badArgument('a list', api)
      return json(seriesToJson(value as ArrayLike<Cell>, String(args.orient)))
    case 'serving.io.JSON':
      return json(value)
    case 'serving.io.Text':
      if (typeof value !== 'string') throw badArgument('a string', api)
      return { type: 'text/plain; charset=utf-8', body: value }
  }
  if (typeof value === 'string') return { type: String(args.mime_type), body: value }
  if (value instanceof Blob) return blobBody(value)
  if (value instanceof ReadableStream) return { type: typeOf(id, args), body: value }
  if (!(value instanceof ArrayBuffer || ArrayBuffer.isView(value)))
    throw badArgument('a Blob or bytes', api)
  return blobBody(new Blob([value as Uint8Array<ArrayBuffer>], { type: typeOf(id, args) }))
}

/** A picture's format is found in its bytes, a file has the type of its descriptor. */
function typeOf(id: string, args: DescriptorInfo['args']): string {
  return id === 'serving.io.Image'
    ? 'application/octet-stream'
    : String(args.mime_type ?? 'application/octet-stream')
}

function json(value: unknown): EncodedBody {
  return { type: 'application/json', body: printJson(value) }
}

function blobBody(blob: Blob): EncodedBody {
  const { name } = blob as File
  return { type: blob.type || 'application/octet-stream', body: blob, ...(name && { name }) }
}
