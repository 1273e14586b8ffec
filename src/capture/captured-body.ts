/** Inputs of recorded calls, again as requests. @module */
import type { ClientDescriptor } from '../api/service-metadata.ts'
import { InvalidArgument, ServingError } from '../core/errors.ts'
import type { MaybePromise } from '../core/promise.ts'
import type { AnyDescriptor, IODescriptor } from '../descriptors/descriptor.ts'
import { File } from '../descriptors/file.ts'
import { JSON as JsonDescriptor } from '../descriptors/json.ts'
import { Multipart } from '../descriptors/multipart.ts'
import { NumpyNdarray } from '../descriptors/numpy-ndarray.ts'
import { PandasDataFrame } from '../descriptors/pandas-dataframe.ts'
import { PandasSeries } from '../descriptors/pandas-series.ts'
import { PartRule } from '../descriptors/part-rule.ts'
import { contentOf } from '../descriptors/proto-content.ts'
import { Text } from '../descriptors/text.ts'
import { HeaderList, HttpRequest, type HttpResponse, wholeBody } from '../http/message.ts'
import { encodeRequest } from '../messages/envelope.ts'
import type { NDArray } from '../values/array/ndarray.ts'
import { encodeNpy } from '../values/array/npy.ts'
import { loadPolars } from '../values/table/polars/polars.ts'
import { valueOf } from './captured-value.ts'
import { type CapturedCall, tensorsId } from './read-rows.ts'
import { Tensors } from './tensors.ts'

/** A request over HTTP. */
export interface CapturedRequest {
  readonly method: string
  /** With the values of its parameters, and the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

/** @returns the request of a call, or why it cannot be sent again. */
export async function bodyOf(call: CapturedCall): Promise<CapturedRequest | string> {
  const { notes, row } = call
  const { method, route, descriptors } = notes
  const path = route.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(row[`params.${name}`])),
  )
  return withInput(call, async (value) => {
    if (descriptors.input.descriptorId === 'Query')
      return { method, path: `/${path}${queryOf(value as object)}`, headers: {}, body: undefined }
    const response = await descriptorOf(descriptors.input, value).encodeExample(value as never)
    const headers = Object.fromEntries(response.headers)
    return { method, path: `/${path}`, headers, body: await wholeBody(response) }
  })
}

/** @returns the request of a call as a message of `ServingService.Call`, or why it cannot be sent again. */
export async function messageOf(call: CapturedCall): Promise<Uint8Array | string> {
  const { api, descriptors } = call.notes
  return withInput(call, (value) =>
    requestMessage(api, descriptorOf(descriptors.input, value), value),
  )
}

/** @returns an HTTP body of an API as a message of `ServingService.Call`. */
export async function messageOfBody(
  api: string,
  descriptor: ClientDescriptor,
  type: string,
  body: Uint8Array,
): Promise<Uint8Array> {
  const input = descriptorOf(descriptor, undefined)
  const request = new HttpRequest(HeaderList.from({ 'content-type': type }), body)
  return requestMessage(api, input, await input.fromHttpRequest(request))
}

async function requestMessage(api: string, input: IODescriptor, value: unknown) {
  const message = isOfParquet(input)
    ? await wholeBody(await input.encodeExample(value as never))
    : await input.toProto(value)
  return encodeRequest(api, contentOf(input, message))
}

async function withInput<R>(
  call: CapturedCall,
  make: (value: unknown) => Promise<R>,
): Promise<R | string> {
  const names = [...call.columns.keys()].filter((name) => name.startsWith('input'))
  if (names.includes('input.messages')) return 'its input was a stream'
  if (names.some((name) => name.endsWith('.sha256'))) return 'its input was too large to be kept'
  try {
    const value = valueOf(call, 'input')
    if (value === undefined) return 'it has no input'
    return await make(value)
  } catch (error) {
    if (ServingError.is(error)) return error.message
    throw error
  }
}

function queryOf(value: object): string {
  const query = new URLSearchParams()
  for (const [name, given] of Object.entries(value))
    for (const each of [given].flat()) if (each !== null) query.append(name, String(each))
  return query.size === 0 ? '' : `?${query}`
}

/** What JSON without a dtype is read as. */
const dtypesOfJson = ['float64', 'int64', 'bool', 'str']

/** Writes JSON where that is read as the same array, else .npy. */
class ExactNdarray extends NumpyNdarray {
  override encodeExample(array: NDArray): MaybePromise<HttpResponse> {
    const isCast = this.dtype !== undefined
    const isOdd = (element: unknown) =>
      typeof element === 'bigint'
        ? !isCast && !Number.isSafeInteger(Number(element))
        : Math.abs(element as number) === Number.POSITIVE_INFINITY
    const isExact = isCast || dtypesOfJson.includes(array.dtype)
    if (isExact && !array.data.some(isOdd)) return super.encodeExample(array)
    return { headers: [['content-type', 'application/x-npy']], body: encodeNpy(array) }
  }
}

/**
 * @returns a descriptor that writes a value as one with these options reads it.
 * @throws InvalidArgument for one of the service's own, or a query.
 */
export function descriptorOf({ descriptorId, args, parts = [] }: ClientDescriptor, value: unknown) {
  const { orient, dtype, default_format: defaultFormat } = args as Record<string, never>
  const encoders: Readonly<Record<string, () => AnyDescriptor>> = {
    'serving.io.NumpyNdarray': () => new ExactNdarray({ dtype }),
    'serving.io.PandasDataFrame': () =>
      new PandasDataFrame({ orient, defaultFormat: isFlat(value) ? defaultFormat : 'parquet' }),
    'serving.io.PandasSeries': () => new PandasSeries({ orient }),
    'serving.io.JSON': () => new JsonDescriptor(),
    'serving.io.Text': () => new Text(),
    [tensorsId]: () => new Tensors(),
    // The file of a picture, as it came.
    'serving.io.Image': () => new File(),
    'serving.io.File': () => new File(),
    'serving.io.Multipart': () =>
      new Multipart(Object.fromEntries(parts.map((part) => [part.name, ruleOf(part, value)]))),
  }
  const encoder = encoders[descriptorId]
  if (encoder === undefined)
    throw new InvalidArgument(`expected a descriptor of serving, received ${descriptorId}`)
  return encoder() as IODescriptor
}

function ruleOf(part: NonNullable<ClientDescriptor['parts']>[number], form: unknown) {
  const [value] = [Reflect.get(Object(form), part.name)].flat()
  return new PartRule(descriptorOf(part, value), part.occurrence as PartRule['occurrence'])
}

const isOfParquet = (input: IODescriptor) =>
  input instanceof PandasDataFrame && input.defaultFormat === 'parquet'

/** Whether JSON and CSV are read as the same types. */
function isFlat(frame: unknown): boolean {
  if (frame === undefined) return true
  const table = loadPolars('capture').toVectors(frame as never)
  return (
    !('failure' in table) &&
    table.columns.every(
      (column) =>
        'kind' in column && dtypesOfJson.includes(column.kind) && !column.time && !column.isBinary,
    )
  )
}
