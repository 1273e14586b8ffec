/** Bodies to send: files, captures, and examples of the OpenAPI document of a server. @module */
import { readFileSync, statSync } from 'node:fs'
import type { ClientDescriptor } from '../../api/service-metadata.ts'
import type { Operation } from '../../client/description.ts'
import { causesOf, errorText, expected, InvalidArgument } from '../../core/errors.ts'
import { extensionType } from '../../core/file/extension-type.ts'
import { sizeOf } from '../../values/array/shape.ts'
import type { Outgoing } from './senders.ts'

/**
 * @param places - Files, captures, and URLs of APIs with examples.
 * @param type - Of the files.
 * @returns what to send to an address, in the order of the recording.
 * @throws InvalidArgument for a place that has nothing to send.
 */
export async function bodiesOf(
  url: URL,
  places: readonly string[] = [url.href],
  type?: string,
): Promise<readonly Outgoing[]> {
  const lists: Outgoing[][] = []
  for (const place of places) {
    try {
      lists.push(await bodiesAt(place, url, type))
    } catch (cause) {
      const what = 'a file, a capture, or the http: address of an API with examples'
      const reason = errorText(cause) + causesOf(cause as Error)
      throw new InvalidArgument(`${expected(what, '--body', place)}: ${reason}`, { cause })
    }
  }
  // Files come first, and have no time.
  return lists.flat().sort(({ atMs: a = 0 }, { atMs: b = 0 }) => a - b)
}

async function bodiesAt(place: string, url: URL, type = extensionType(place)) {
  if (/^https?:/.test(place)) return examplesOf(new URL(place), url)
  if (place.startsWith('s3:') || statSync(place).isDirectory()) return capturedBodies(place, url)
  return [typed(type ?? 'application/octet-stream', readFileSync(place))]
}

const typed = (type: string, body: Uint8Array): Outgoing => ({
  headers: { 'content-type': type },
  body,
})

/** @returns what callers have sent, to the service at an address. */
async function capturedBodies(place: string, url: URL): Promise<Outgoing[]> {
  const { recordedCalls, requestOf, timeOf } = await import('../recorded-calls.ts')
  const base = url.pathname.replace(/\/$/, '')
  const bodies: Outgoing[] = []
  let reason = 'it has no calls'
  for await (const call of recordedCalls(place)) {
    try {
      const request = await requestOf(call, url.protocol.startsWith('grpc'))
      bodies.push({ ...request, path: base + request.path, atMs: timeOf(call) })
    } catch (error) {
      reason = errorText(error)
    }
  }
  if (bodies.length > 0) return bodies
  throw new Error(reason)
}

interface OpenApiDocument {
  readonly paths?: Readonly<Record<string, { readonly post?: Operation }>>
}

/**
 * @param to - Where they go: by gRPC as messages of `ServingService.Call`.
 * @param base - Where the OpenAPI document may be: it is the nearest one above an API.
 * @returns the examples of the API at an address.
 */
async function examplesOf(url: URL, to: URL, base = new URL('.', url)): Promise<Outgoing[]> {
  if (/\/v2\/models\/.+\/infer$/.test(url.pathname)) return [await zerosOf(url)]
  const response = await fetch(new URL('openapi.json', base))
  if (!response.ok && base.pathname !== '/') return examplesOf(url, to, new URL('..', base))
  const { paths = {} } = (await response.json()) as OpenApiDocument
  const { post = {} } = paths[url.pathname.slice(base.pathname.length - 1)] ?? {}
  const { operationId = '', requestBody: { content = {} } = {}, 'x-serving': kinds } = post
  const bodies: Outgoing[] = []
  for (const [type, media] of Object.entries(content)) {
    const { example: value, examples = { example: { value } } } = media
    for (const example of Object.values(examples)) {
      const body = await bytesOf(type, example, base)
      if (body === undefined) continue
      if (kinds?.input && to.protocol.startsWith('grpc')) {
        const { messageOfBody } = await import('../recorded-calls.ts')
        const input = kinds.input as ClientDescriptor
        bodies.push({ body: await messageOfBody(operationId, input, type, body) })
      } else bodies.push(typed(type, body))
    }
  }
  if (bodies.length > 0) return bodies
  throw new Error(`it has no example for POST ${url.pathname}`)
}

interface Example {
  readonly value?: unknown
  readonly externalValue?: string
}

async function bytesOf(type: string, { value, externalValue }: Example, base: URL) {
  if (externalValue !== undefined)
    return new Uint8Array(await (await fetch(new URL(externalValue, base))).arrayBuffer())
  const text = /[/+]json$/.test(type) ? JSON.stringify(value) : value
  return typeof text === 'string' ? Buffer.from(text) : undefined
}

interface ModelMetadata {
  readonly inputs: readonly { readonly datatype: string; readonly shape: readonly number[] }[]
}

/** The Open Inference Protocol has no examples: zeros of the shapes that a model states. */
async function zerosOf(url: URL): Promise<Outgoing> {
  const response = await fetch(url.href.replace(/\/infer$/, ''))
  if (!response.ok) throw new Error(`it answered ${response.status}`)
  const metadata = (await response.json()) as ModelMetadata
  const zeros: Readonly<Record<string, unknown>> = { BOOL: false, BYTES: '' }
  const inputs = metadata.inputs.map((input) => {
    const shape = input.shape.map((size) => Math.max(size, 1))
    return { ...input, shape, data: Array(sizeOf(shape)).fill(zeros[input.datatype] ?? 0) }
  })
  return typed('application/json', Buffer.from(JSON.stringify({ inputs })))
}
