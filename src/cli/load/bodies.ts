/** Bodies to send: files, captures, and examples of the OpenAPI document of a server. @module */
import { existsSync, readFileSync, statSync } from 'node:fs'
import type { ClientDescriptor } from '../../api/service-metadata.ts'
import { InvalidArgument } from '../../core/errors.ts'
import { extensionType } from '../../core/file/extension-type.ts'
import type { Body } from './sender.ts'

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
): Promise<readonly Body[]> {
  if (places.length === 0 && !/^https?:$/.test(url.protocol))
    throw new InvalidArgument(
      `expected --body FILE for ${url.protocol}//, whose messages have no examples: a file, a capture, or the http:` +
        ' address of an API with examples',
    )
  const lists = (places.length === 0 ? [url.href] : places).map((place) => {
    if (/^https?:/.test(place)) return examplesOf(new URL(place), isGrpc(url))
    const isCapture =
      place.startsWith('s3:') || (existsSync(place) && statSync(place).isDirectory())
    return isCapture ? capturedBodies(place, url) : [bodyOfFile(place, type)]
  })
  return (await Promise.all(lists)).flat()
}

const isGrpc = ({ protocol }: URL) => protocol.startsWith('grpc')

async function capturedBodies(place: string, url: URL): Promise<readonly Body[]> {
  const { capturedBodies } = await import('./captured-bodies.ts')
  return capturedBodies(place, url, isGrpc(url))
}

/** @throws InvalidArgument for a file that cannot be read. */
function bodyOfFile(path: string, contentType?: string): Body {
  try {
    return {
      bytes: readFileSync(path),
      contentType: contentType ?? extensionType(path) ?? 'application/octet-stream',
    }
  } catch (error) {
    throw new InvalidArgument(`expected a file that can be read for --body: ${String(error)}`)
  }
}

interface Operation {
  readonly operationId: string
  readonly 'x-serving'?: { readonly input: ClientDescriptor }
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly example?: unknown; readonly examples?: Record<string, Example> }>
    >
  }
}

interface Example {
  readonly value?: unknown
  readonly externalValue?: string
}

interface OpenApiDocument {
  readonly paths?: Readonly<Record<string, { readonly post?: Operation }>>
}

/**
 * @param asMessages - As messages of `ServingService.Call`.
 * @returns the examples of the API at an address.
 * @throws InvalidArgument if it has no example.
 */
async function examplesOf(url: URL, asMessages: boolean): Promise<Body[]> {
  const tensors = /\/v2\/models\/.+(?=\/infer$)/.exec(url.pathname)
  if (tensors !== null) return [await tensorsOf(new URL(tensors[0], url))]
  const { document, prefix } = await findDocument(url)
  const path = url.pathname.slice(prefix.length)
  const operation = (document.paths?.[url.pathname] ?? document.paths?.[path])?.post
  const media = Object.entries(operation?.requestBody?.content ?? {})
  const bodies: Body[] = []
  for (const [contentType, { example, examples = {} }] of media) {
    const values = [{ value: example }, ...Object.values(examples)]
    for (const each of values) {
      const bytes = await bytesOf(contentType, each, new URL(`${prefix}/`, url))
      if (bytes !== undefined) bodies.push({ bytes, contentType })
    }
    if (bodies.length > 0) break
  }
  if (bodies.length === 0)
    throw new InvalidArgument(
      `the OpenAPI document of ${url.origin} has no example for POST ${url.pathname}: give --body FILE`,
    )
  const descriptor = operation?.['x-serving']?.input
  if (!asMessages || descriptor === undefined) return bodies
  const { messageOfBody } = await import('../../capture/captured-body.ts')
  const messages = bodies.map(async ({ bytes, contentType }) => ({
    bytes: Buffer.from(
      await messageOfBody(operation?.operationId ?? '', descriptor, contentType, bytes),
    ),
    contentType: 'application/grpc',
  }))
  return Promise.all(messages)
}

async function bytesOf(
  contentType: string,
  { value, externalValue }: Example,
  base: URL,
): Promise<Buffer | undefined> {
  if (externalValue !== undefined) {
    const response = await fetch(new URL(externalValue, base))
    return Buffer.from(await response.arrayBuffer())
  }
  const isJson = /[/+]json$/.test(contentType)
  if (value === undefined || !(isJson || typeof value === 'string')) return undefined
  return Buffer.from(isJson ? JSON.stringify(value) : (value as string))
}

interface TensorMetadata {
  readonly inputs: readonly {
    readonly name: string
    readonly datatype: string
    readonly shape: readonly number[]
  }[]
}

/** The Open Inference Protocol has no examples: zeros of the shapes that a model states. */
async function tensorsOf(model: URL): Promise<Body> {
  const response = await fetch(model)
  if (!response.ok) throw new InvalidArgument(`${model} answered ${response.status}`)
  const { inputs } = (await response.json()) as TensorMetadata
  const values: Readonly<Record<string, unknown>> = { BOOL: false, BYTES: '' }
  const tensors = inputs.map((input) => {
    const shape = input.shape.map((size) => Math.max(size, 1))
    const size = shape.reduce((product, each) => product * each, 1)
    return { ...input, shape, data: Array(size).fill(values[input.datatype] ?? 0) }
  })
  return {
    bytes: Buffer.from(JSON.stringify({ inputs: tensors })),
    contentType: 'application/json',
  }
}

/** The document stands at the path in front of every API, which is the root unless `--base-url` says otherwise. */
async function findDocument(url: URL): Promise<{ document: OpenApiDocument; prefix: string }> {
  const segments = url.pathname.split('/').slice(1, -1)
  for (let depth = 0; depth <= segments.length; depth++) {
    const prefix = segments
      .slice(0, depth)
      .map((segment) => `/${segment}`)
      .join('')
    const response = await fetch(new URL(`${prefix}/openapi.json`, url)).catch((cause) => {
      throw new InvalidArgument(`${url.origin} does not answer: ${reasonOf(cause)}`, { cause })
    })
    if (response.ok) return { document: (await response.json()) as OpenApiDocument, prefix }
  }
  throw new InvalidArgument(
    `${url.origin} shows no OpenAPI document with examples: give --body FILE`,
  )
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error ? cause.message : message
}
