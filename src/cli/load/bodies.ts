/** Bodies to send: files, captures, and examples of the OpenAPI document of a server. @module */
import { readFileSync, statSync } from 'node:fs'
import type { ClientDescriptor } from '../../api/service-metadata.ts'
import { causesOf, InvalidArgument } from '../../core/errors.ts'
import { extensionType } from '../../core/file/extension-type.ts'
import type { Outgoing } from './sender.ts'

/**
 * @param places - Files, captures, and URLs of APIs with examples.
 * @param type - Of the files.
 * @returns what to send to an address.
 * @throws InvalidArgument.
 */
export async function bodiesOf(
  url: URL,
  places: readonly string[] = [],
  type?: string,
): Promise<readonly Outgoing[]> {
  if (places.length === 0 && !/^https?:$/.test(url.protocol))
    throw new InvalidArgument(
      `expected --body FILE for ${url.protocol}//, whose messages have no examples: a file, a capture, or the http:` +
        ' address of an API with examples',
    )
  const lists = (places.length === 0 ? [url.href] : places).map(async (place) => {
    if (/^https?:/.test(place) && URL.canParse(place))
      return examplesOf(new URL(place), url.protocol.startsWith('grpc'))
    const isFile = !place.startsWith('s3:') && !statSync(place, quiet)?.isDirectory()
    if (isFile) return [bodyOfFile(place, type)]
    const { capturedBodies } = await import('./captured-bodies.ts')
    return capturedBodies(place, url)
  })
  return (await Promise.all(lists)).flat()
}

const quiet = { throwIfNoEntry: false } as const

/** @throws InvalidArgument for a file that cannot be read. */
function bodyOfFile(path: string, given?: string): Outgoing {
  try {
    const type = given ?? extensionType(path) ?? 'application/octet-stream'
    return typed(type, readFileSync(path))
  } catch (error) {
    throw new InvalidArgument(`expected a file that can be read for --body: ${String(error)}`)
  }
}

const typed = (type: string, body: Uint8Array): Outgoing => ({
  headers: { 'content-type': type },
  body,
})

interface Operation {
  readonly operationId: string
  readonly 'x-serving'?: { readonly input: ClientDescriptor }
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { example?: unknown; examples?: object }>>
  }
}

interface OpenApiDocument {
  readonly paths?: Readonly<Record<string, { readonly post?: Operation }>>
}

/**
 * @param asMessages - As messages of `ServingService.Call`.
 * @returns the examples of the API at an address.
 * @throws InvalidArgument if it has no example.
 */
async function examplesOf(url: URL, asMessages: boolean): Promise<Outgoing[]> {
  if (/\/v2\/models\/.+\/infer$/.test(url.pathname)) return [await tensorsOf(url)]
  const { document, base } = await findDocument(url)
  const path = url.pathname.slice(base.pathname.length - 1)
  const { post } = document.paths?.[url.pathname] ?? document.paths?.[path] ?? {}
  for (const [type, { example, examples }] of Object.entries(post?.requestBody?.content ?? {})) {
    const values: Example[] = [{ value: example }, ...Object.values(examples ?? {})]
    const found = await Promise.all(values.map((each) => bytesOf(type, each, base)))
    const bodies = found.filter((bytes) => bytes !== undefined)
    const input = post?.['x-serving']?.input
    if (bodies.length === 0) continue
    if (!asMessages || input === undefined) return bodies.map((bytes) => typed(type, bytes))
    const { messageOfBody } = await import('../../capture/captured-body.ts')
    const { operationId = '' } = post ?? {}
    const messages = bodies.map((bytes) => messageOfBody(operationId, input, type, bytes))
    return (await Promise.all(messages)).map((body) => ({ body }))
  }
  throw new InvalidArgument(
    `the OpenAPI document of ${url.origin} has no example for POST ${url.pathname}: give --body FILE`,
  )
}

interface Example {
  readonly value?: unknown
  readonly externalValue?: string
}

async function bytesOf(type: string, { value, externalValue }: Example, base: URL) {
  if (externalValue !== undefined)
    return Buffer.from(await (await fetch(new URL(externalValue, base))).arrayBuffer())
  if (value === undefined) return undefined
  if (/[/+]json$/.test(type)) return Buffer.from(JSON.stringify(value))
  return typeof value === 'string' ? Buffer.from(value) : undefined
}

interface TensorMetadata {
  readonly inputs: readonly { readonly datatype: string; readonly shape: readonly number[] }[]
}

/** The Open Inference Protocol has no examples: zeros of the shapes that a model states. */
async function tensorsOf(url: URL): Promise<Outgoing> {
  const response = await fetch(url.href.replace(/\/infer$/, ''))
  if (!response.ok) throw new InvalidArgument(`${url} answered ${response.status}`)
  const { inputs } = (await response.json()) as TensorMetadata
  const zeros: Readonly<Record<string, unknown>> = { BOOL: false, BYTES: '' }
  const tensors = inputs.map((input) => {
    const shape = input.shape.map((size) => Math.max(size, 1))
    const size = shape.reduce((product, each) => product * each, 1)
    return { ...input, shape, data: Array(size).fill(zeros[input.datatype] ?? 0) }
  })
  return typed('application/json', Buffer.from(JSON.stringify({ inputs: tensors })))
}

/** The document stands in front of every API: at the root unless `--base-url` says otherwise. */
async function findDocument(url: URL): Promise<{ document: OpenApiDocument; base: URL }> {
  const bases = [new URL('.', url)]
  while (bases[0].pathname !== '/') bases.unshift(new URL('..', bases[0]))
  for (const base of bases) {
    const response = await fetch(new URL('openapi.json', base)).catch((cause: Error) => {
      throw new InvalidArgument(`${url.origin} does not answer${causesOf(cause)}`, { cause })
    })
    if (response.ok) return { document: (await response.json()) as OpenApiDocument, base }
  }
  throw new InvalidArgument(
    `${url.origin} shows no OpenAPI document with examples: give --body FILE`,
  )
}
