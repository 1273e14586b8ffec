/** The calls of a capture, one file in memory at a time, also as requests. @module */
import type { ClientDescriptor } from '../api/service-metadata.ts'
import { descriptorOf, valueOf } from '../capture/captured-value.ts'
import { filesOf, foldersOf } from '../capture/place.ts'
import { type CapturedCall, readCalls } from '../capture/read-rows.ts'
import { encodeQuery } from '../client/encode.ts'
import { InvalidArgument } from '../core/errors.ts'
import type { IODescriptor } from '../descriptors/descriptor.ts'
import { PandasDataFrame } from '../descriptors/pandas-dataframe.ts'
import { contentOf } from '../descriptors/proto-content.ts'
import { HeaderList, HttpRequest, wholeBody } from '../http/message.ts'
import type { BlobStore } from '../jobs/blob-store.ts'
import { encodeRequest } from '../messages/envelope.ts'
import type { Outgoing } from './load/senders.ts'

/**
 * Yields the calls of all APIs, in the order in which their files were closed.
 *
 * @throws InvalidArgument for a folder that is not there.
 */
export async function* recordedCalls(place: string): AsyncGenerator<CapturedCall> {
  const files: [store: BlobStore, name: string][] = []
  for (const { store } of await foldersOf(place))
    for (const name of await filesOf(store)) files.push([store, name])
  files.sort(([, a], [, b]) => (a < b ? -1 : 1))
  for (const [store, name] of files) yield* readCalls(store, name)
}

/** @returns when a call came. **Units**: milliseconds since 1970. */
export function timeOf({ row }: CapturedCall): number {
  return Number(row.time)
}

/** A file has calls that ended in the minute before it was closed, and began up to a minute before. */
const windowMs = 120_000

/** Yields calls in the order in which they came. */
export async function* inOrder(calls: AsyncIterable<CapturedCall>): AsyncGenerator<CapturedCall> {
  const waiting: CapturedCall[] = []
  for await (const call of calls) {
    if (waiting.push(call) % 1000 > 0) continue
    const end = timeOf(waiting.sort(byTime)[waiting.length - 1]) - windowMs
    yield* waiting.splice(
      0,
      waiting.findIndex((each) => timeOf(each) >= end),
    )
  }
  yield* waiting.sort(byTime)
}

const byTime = (a: CapturedCall, b: CapturedCall) => timeOf(a) - timeOf(b)

/**
 * @returns a call as a request.
 * @throws InvalidArgument if it cannot be sent again.
 */
export async function requestOf(call: CapturedCall, isGrpc = false): Promise<Outgoing> {
  const { api, method, route, descriptors } = call.notes
  const value = valueOf(call, 'input')
  const filled = route.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = call.row[`params.${name}`]
    if (parameter !== undefined) return encodeURIComponent(String(parameter))
    throw new InvalidArgument(`its parameter ${name} was not kept`)
  })
  const path = `/${filled}`
  if (descriptors.input.descriptorId === 'Query' && !isGrpc)
    return { method, path: path + encodeQuery(value, api) }
  const input = descriptorOf(descriptors.input, value)
  if (isGrpc) return { body: await messageOf(api, input, value) }
  const response = await input.encodeExample(value as never)
  const headers = Object.fromEntries(response.headers)
  return { method, path, headers, body: await wholeBody(response) }
}

/** @returns an HTTP body of an API as a message of `ServingService.Call`. */
export async function messageOfBody(
  api: string,
  descriptor: ClientDescriptor,
  type: string,
  body: Uint8Array,
): Promise<Uint8Array> {
  const input = descriptorOf(descriptor)
  const request = new HttpRequest(HeaderList.from({ 'content-type': type }), body)
  return messageOf(api, input, await input.fromHttpRequest(request))
}

async function messageOf(api: string, input: IODescriptor, value: unknown) {
  const isParquet = input instanceof PandasDataFrame && input.defaultFormat === 'parquet'
  const message = isParquet
    ? await wholeBody(await input.encodeExample(value as never))
    : await input.toProto(value)
  return encodeRequest(api, contentOf(input, message))
}
