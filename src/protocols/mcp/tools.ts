/** APIs as tools and prompts: their schemas, their arguments as bodies, and their answers as content. @module */

import type { Api } from '../../api/api.ts'
import { BadInput, expected } from '../../core/errors.ts'
import { membersIn } from '../../core/json-schema/shape.ts'
import { isRecord } from '../../core/options.ts'
import { type MaybePromise, whenReady } from '../../core/promise.ts'
import type { JsonSchema } from '../../descriptors/description.ts'
import type { IODescriptor } from '../../descriptors/descriptor.ts'
import { contentOf } from '../../descriptors/proto-content.ts'
import type { Context } from '../../http/context.ts'
import { noMemory } from '../../http/limits.ts'
import { isJsonText, mediaTypeOf } from '../../http/media-type.ts'
import {
  type HeaderLine,
  HeaderList,
  HttpRequest,
  type HttpResponse,
  wholeBody,
} from '../../http/message.ts'
import { contentToJson } from '../../messages/content-types.ts'
import type { FileMessage, MultipartMessage, ProtoContent } from '../../messages/messages.ts'

/** What a client knows of a tool. */
export type Tool = NonNullable<ReturnType<typeof toolOf>>

/** A part of a tool's result: text, image, audio, resource or resource_link. */
export interface ToolContent {
  readonly type: string
  readonly [member: string]: unknown
}

/** What a tool answers. */
export interface ToolResult {
  readonly content: readonly ToolContent[]
  readonly structuredContent?: Readonly<Record<string, unknown>> | undefined
  readonly isError?: boolean
}

/** How the arguments of a tool are a body. */
interface Input {
  readonly type: string
  readonly schema: JsonSchema
  /** The arguments themselves are the JSON value, not their member `input`. */
  readonly isWhole: boolean
  readonly kind: 'json' | 'text' | 'base64'
}

/** @returns what lists tell of an API beside its schemas. */
export function namesOf({ name, doc: description, mcp }: Api) {
  return { name, title: mcp?.title, description }
}

/** @returns the tool of an API; undefined if its input is a form or a format of its own. */
export function toolOf(api: Api) {
  const input = inputOf(api.input)
  if (input === undefined) return undefined
  const { schema, isWhole } = input
  const { $defs, ...own } = isWhole ? schema : moved(schema)
  const wrapped = { type: 'object', properties: { input: own }, required: ['input'], $defs }
  return {
    ...namesOf(api),
    annotations: api.mcp?.annotations,
    inputSchema: { $schema, ...(isWhole ? schema : wrapped) },
    outputSchema: structureOf(api),
  }
}

const $schema = 'https://json-schema.org/draft/2020-12/schema'

/** A schema that is a property refers to itself by another path. */
function moved(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#"', '"$ref":"#/properties/input"'))
}

/** @returns the schema of an answer that is always one JSON object. */
function structureOf({ isGenerator, output }: Api): JsonSchema | undefined {
  if (isGenerator) return undefined
  const [format] = output.describe().output
  return isJsonText(format?.mimeType) && format.schema?.type === 'object'
    ? format.schema
    : undefined
}

function inputOf(descriptor: IODescriptor): Input | undefined {
  const formats = descriptor.describe().input
  // A file may also come in a form.
  if (formats[0]?.fields !== undefined) return undefined
  const json = formats.find(({ mimeType }) => isJsonText(mimeType))
  if (json !== undefined) {
    const schema = json.schema ?? {}
    return { type: json.mimeType, schema, isWhole: schema.type === 'object', kind: 'json' }
  }
  const kind = kinds.get(descriptor.descriptorId)
  if (kind === undefined) return undefined
  const [{ mimeType: type } = { mimeType: '' }] = formats
  const encoded = kind === 'base64' && {
    contentEncoding: kind,
    contentMediaType: type,
    description: 'As base64.',
  }
  return { type, schema: { type: 'string', ...encoded }, isWhole: false, kind }
}

/** How arguments are bodies of descriptors that take no JSON. */
const kinds: ReadonlyMap<string, Input['kind']> = new Map([
  ['serving.io.Text', 'text'],
  ['serving.io.File', 'base64'],
  ['serving.io.Image', 'base64'],
])

// Agents have pictures and files as data URLs, and in both alphabets of base64.
const dataUrl = /^data:([^;,]*)(?:;[^;,]*)*;base64,/

/** One expression for all of it would try each end of a long run of blanks. */
function isBase64(text: string): boolean {
  const end = text.indexOf('=')
  const digits = end === -1 ? text : text.slice(0, end)
  return !/[^A-Za-z0-9+/_\s-]/.test(digits) && (end === -1 || /^={1,2}\s*$/.test(text.slice(end)))
}

/**
 * @returns the request that the arguments of a tool stand for.
 * @throws BadInput; Overloaded.
 */
export function requestOf(
  api: Api,
  args: Readonly<Record<string, unknown>>,
  ctx: Context,
): HttpRequest {
  const { type, isWhole, kind } = inputOf(api.input) as Input
  const value = isWhole ? args : args.input
  // A file without a type of its own takes any.
  const stated = type.includes('*') || type === '' ? 'application/octet-stream' : type
  const make = (bytes: Uint8Array, own?: string) => {
    hold(ctx, bytes.length)
    return new HttpRequest(HeaderList.from({ 'content-type': own || stated }), bytes)
  }
  if (kind === 'json' && value !== undefined) return make(Buffer.from(JSON.stringify(value)))
  if (kind === 'text' && typeof value === 'string') return make(Buffer.from(value))
  if (kind === 'base64' && typeof value === 'string') {
    const [prefix, own] = dataUrl.exec(value) ?? ['']
    const data = value.slice(prefix.length)
    if (isBase64(data)) return make(Buffer.from(data, 'base64'), own)
  }
  const wanted = { json: 'a value', text: 'a string', base64: 'base64, or a data URL of it,' }[kind]
  throw new BadInput(expected(wanted, 'the argument input', value), {
    reason: 'schema',
    path: 'input',
  })
}

/**
 * Each part of a form is a part of the result.
 *
 * @returns what a function has returned as the result of its tool.
 * @throws Overloaded; those of encoding.
 */
export function encodeResult(api: Api, result: unknown, ctx: Context): MaybePromise<ToolResult> {
  const { output } = api
  if (output.descriptorId === 'serving.io.Multipart')
    return whenReady(output.toProto(result as never, ctx), (message) => {
      const { fields } = contentOf(output, message).message as MultipartMessage
      return { content: [...fields].map(([name, part]) => partOf(name, part, ctx)) }
    })
  return whenReady(output.toHttpResponse(result as never, ctx), (answer) =>
    resultOf(api, answer, ctx),
  )
}

function partOf(name: string, part: ProtoContent, ctx: Context) {
  if (part.field === 'file') {
    const { kind = octets, content = new Uint8Array(0) } = part.message as FileMessage
    hold(ctx, content.length)
    return binaryOf(name, kind, Buffer.from(content).toString('base64'))
  }
  const [value] = Object.values(contentToJson(part))
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  hold(ctx, text.length)
  return { type: 'text', text }
}

/** @returns an answer as the content of a tool's result. */
export async function resultOf(api: Api, answer: HttpResponse, ctx: Context): Promise<ToolResult> {
  const { bytes, mimeType, isJson, text } = await readAnswer(answer, ctx)
  if (text === undefined)
    return { content: [binaryOf(api.name, mimeType, bytes.toString('base64'))] }
  const value: unknown = isJson && structureOf(api) !== undefined && JSON.parse(text)
  return {
    content: [{ type: 'text', text }],
    structuredContent: isRecord(value) ? value : undefined,
  }
}

/**
 * @returns the body of an answer, with its text if it is one.
 * @throws Overloaded; those of the body's source.
 */
export async function readAnswer(answer: HttpResponse, ctx: Context) {
  const whole = await wholeBody(answer)
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.length)
  hold(ctx, bytes.length)
  const given = typeIn(answer.headers)
  const isJson = isJsonText(given)
  const mimeType = mediaTypeOf(given)?.essence ?? given
  const isText = isJson || mimeType.startsWith('text/') || mimeType === 'application/x-ndjson'
  return { bytes, mimeType, isJson, text: isText ? bytes.toString() : undefined }
}

/** @returns the media type of an answer. */
export function typeIn(headers: readonly HeaderLine[]): string {
  return headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? octets
}

/** The text in a message, and the message's own bytes. */
function hold(ctx: Context, bytes: number): void {
  if (!ctx.reserve(2 * bytes)) throw noMemory()
}

const octets = 'application/octet-stream'

function binaryOf(name: string, mimeType: string, data: string) {
  const [type] = mimeType.split('/')
  if (type === 'image' || type === 'audio') return { type, mimeType, data }
  return { type: 'resource', resource: { uri: `serving:${name}`, mimeType, blob: data } }
}

/** @returns what lists tell of an API that is a prompt. */
export function promptOf(api: Api): object {
  const members = membersIn(toolOf(api)?.inputSchema ?? {})
  const args = members.map(({ name, isRequired, schema }) => {
    const { description } = Object(schema)
    return { name, description, required: isRequired }
  })
  return { ...namesOf(api), arguments: args }
}
