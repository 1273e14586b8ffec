import type { ShapeOf, ShapePattern } from '../core/axes.ts'
import { type DType, parseDType } from '../core/dtype.ts'
import { BadInput, type BadInputReason, BadOutput, badInput, expected } from '../core/errors.ts'
import { bufferPool, PooledBody } from '../core/memory/buffer-pool.ts'
import { allocateWithHeadroom } from '../core/memory/headroom.ts'
import { minAsyncBytes } from '../core/memory/limiter.ts'
import { checkAtLeast, checkEnforced, checkOneOf, checkOptions } from '../core/options.ts'
import { allocate } from '../core/platform.ts'
import { isPromise, type MaybePromise, whenDefined } from '../core/promise.ts'
import { defaultMaxBytes } from '../core/text/parse-json.ts'
import { variesByAccept } from '../http/accept.ts'
import type { Context } from '../http/context.ts'
import { isJsonType, type MediaType, requireMediaType } from '../http/media-type.ts'
import type { Chunk, HttpRequest, HttpResponse } from '../http/message.ts'
import { constantHeaders } from '../http/response-head.ts'
import type { NDArrayMessage } from '../messages/messages.ts'
import { parseArrayText, printArrayText } from '../values/array/array-text.ts'
import { castArray, isSameKind } from '../values/array/cast.ts'
import {
  acceptedForm,
  fromNDArrayMessage,
  ndarrayForms,
  parseSerialized,
  toNDArrayMessage,
} from '../values/array/message.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { encodeNdarrayFlatbuffer } from '../values/array/ndarray-flatbuffer.ts'
import type { Nested } from '../values/array/nested.ts'
import type { NonFinite, ParseFailure } from '../values/array/number-codec.ts'
import { matchesShape, parseShapePattern, reshapeTo, showShape } from '../values/array/shape.ts'
import type { FormatDescription, Formats } from './description.ts'
import { IODescriptor } from './descriptor.ts'
import {
  arraySchema,
  elementSchema,
  exampleArray,
  maxExampleElements,
  nestedAsJson,
} from './element-schema.ts'

/**
 * Options of {@link NumpyNdarray}.
 *
 * @see SPEC "NumpyNdarray".
 */
export interface NumpyNdarrayOptions<
  D extends DType = DType,
  P extends ShapePattern = ShapePattern,
  E extends boolean = boolean,
> {
  /**
   * Type that arrays are cast to, both ways, by numpy's rules without wrapping.
   *
   * @default no cast
   */
  readonly dtype?: D | null
  /**
   * Refuse what numpy's `same_kind` does not cast to `dtype`, both ways. In JSON a number without fraction and exponent
   * is an integer; `null` and NaN are floats: int64 refuses `[1.5]`, `[1.0]` and `["7"]`, bool refuses `[1]`. Needs
   * `dtype`. For TypeScript, functions answer that dtype and that shape.
   */
  readonly enforceDtype?: E
  /**
   * Shape that arrays are reshaped to; `-1` matches any length, and so does a name: `['batch', 64]`. For TypeScript,
   * an axis is not one of another name.
   *
   * @default no change
   */
  readonly shape?: P | null
  /** Refuse arrays of another shape instead of reshaping them. Needs `shape`. */
  readonly enforceShape?: boolean
  /**
   * How NaN and the infinities are written in JSON, which has no word for them.
   *
   * @default `'null'`
   */
  readonly nonFinite?: NonFinite
  /**
   * Longest JSON body of strings or objects (413 above it), or of any array if the native add-on is
   * not loaded: JSON.parse holds the event loop. **Units**: bytes.
   *
   * @default 4 MiB
   */
  readonly maxBytes?: number
}

/** What a function answers: any array, unless the dtype is enforced. */
export type ArrayResult<D extends DType, P extends ShapePattern, E> = [E] extends [true]
  ? NDArray<D, ShapeOf<P>>
  : NDArray

const optionNames = [
  'dtype',
  'enforceDtype',
  'shape',
  'enforceShape',
  'nonFinite',
  'maxBytes',
] as const
const jsonHeaders = constantHeaders([['content-type', 'application/json'], variesByAccept])
const formHeaders = new Map(
  [...ndarrayForms.keys()].map((type) => [
    type,
    constantHeaders([['content-type', type], variesByAccept]),
  ]),
)
// Smaller ones are not worth it. **Units**: bytes.
const minPooledBytes = 64 * 1024

function takeBytes(size: number): Uint8Array {
  if (size < minPooledBytes) return allocate(size)
  return new Uint8Array(bufferPool.take(size), 0, size)
}

/**
 * Decodes a body to an {@link NDArray}; encodes an NDArray as a response.
 *
 * **Wire**: JSON requests are nested lists, a scalar, or a list of objects keyed by column index.
 * JSON responses are compact nested lists; floats have the fewest digits that are exact, integral
 * ones end in `.0`. Content-Type and Accept also select application/x-flatbuffers
 * (proto/ndarray.fbs) and application/x-npy.
 *
 * @throws BadInput `syntax`, `encoding`, `ragged`, `dtype`, `shape` with the byte offset or the
 * element's path; 413 for more than `maxBytes` or 250,000 elements read by JSON.parse; 415 for a
 * type that is not read.
 * @example
 * `new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 4], enforceShape: true })`
 * @see SPEC "NumpyNdarray".
 */
export class NumpyNdarray<
  D extends DType = DType,
  const P extends ShapePattern = ShapePattern,
  E extends boolean = boolean,
> extends IODescriptor<NDArray<D, ShapeOf<P>>, ArrayResult<D, P, E>> {
  readonly mimeType = 'application/json'
  override readonly readsHeaders: readonly string[] = ['accept']
  override readonly protoField = 'ndarray'
  override readonly descriptorId: string = 'serving.io.NumpyNdarray'
  override readonly publicOptions: readonly string[] = optionNames
  readonly dtype: D | undefined
  readonly enforceDtype: boolean
  readonly shape: readonly number[] | undefined
  readonly enforceShape: boolean
  readonly nonFinite: NonFinite
  readonly maxBytes: number
  readonly sample: NDArray | undefined

  constructor(given: NumpyNdarrayOptions<D, P, E> = {}, sample?: NDArray) {
    super()
    const options = checkOptions('NumpyNdarray', given, optionNames)
    checkEnforced('NumpyNdarray', options)
    this.dtype = whenDefined(options.dtype, (dtype) => parseDType(dtype) as D)
    this.shape = whenDefined(options.shape, parseShapePattern)
    this.enforceDtype = options.enforceDtype ?? false
    this.enforceShape = options.enforceShape ?? false
    this.nonFinite = checkOneOf('nonFinite', options.nonFinite ?? 'null', [
      'null',
      'literal',
      'error',
    ])
    this.maxBytes = checkAtLeast('maxBytes', options.maxBytes ?? defaultMaxBytes, 1)
    this.sample = sample
  }

  /**
   * Makes a descriptor with the sample's dtype and shape; `options` override them.
   *
   * @throws BadInput.
   */
  static fromSample<D extends DType = DType>(
    sample: NDArray<D> | Nested | ArrayBufferView,
    options: NumpyNdarrayOptions<D> = {},
  ): NumpyNdarray<D> {
    if (typeof sample !== 'object' || sample === null) {
      throw badInput('dtype', expected('an array or a list', 'NumpyNdarray.fromSample', sample))
    }
    const array = NDArray.from(sample, 'NumpyNdarray.fromSample')
    return new NumpyNdarray({ dtype: array.dtype as D, shape: array.shape, ...options }, array)
  }

  protected override formats(): Formats {
    const { dtype, shape, sample } = this
    const example =
      sample === undefined || sample.size > maxExampleElements
        ? exampleArray(dtype, shape)
        : nestedAsJson(sample.toNested())
    const json = (nullable: boolean): FormatDescription => ({
      mimeType: this.mimeType,
      schema: arraySchema(elementSchema(dtype, nullable), shape, this.enforceShape),
      ...(example !== undefined && { example }),
    })
    const forms = [...ndarrayForms.keys()].map((mimeType) => ({ mimeType }))
    return {
      input: [json(true), ...forms],
      output: [json(this.nonFinite === 'null'), ...forms],
      reasons: ['syntax', 'encoding', 'ragged', 'dtype', 'shape'],
    }
  }

  fromHttpRequest(request: HttpRequest): MaybePromise<NDArray<D, ShapeOf<P>>> {
    const type = requireMediaType(request.headers, isReadable, readable, 'NumpyNdarray')
    const form = type && ndarrayForms.get(type.essence)
    // Not peek: the array is a view of the bytes.
    if (form !== undefined) return this.fromArray(form.parse(request.body, 'NumpyNdarray'))
    const { bytes, isPrivate } = request.lasting(minAsyncBytes)
    const parsed = parseArrayText(bytes, this.dtype, this.enforceDtype, isPrivate, this.maxBytes)
    if (isPromise(parsed)) return parsed.then((later) => this.#fromParsed(later))
    return this.#fromParsed(parsed)
  }

  override encodeExample(example: NDArray | Nested): MaybePromise<HttpResponse> {
    return this.toHttpResponse(NDArray.from(example, 'NumpyNdarray') as ArrayResult<D, P, E>)
  }

  toHttpResponse(value: ArrayResult<D, P, E>, ctx?: Context): MaybePromise<HttpResponse> {
    const array = this.toArray(value)
    const form = acceptedForm(ctx?.headers.get('accept'))
    if (form !== undefined) {
      const body = form.encode(array, takeBytes)
      const headers = formHeaders.get(form.mimeType) ?? []
      if (body.length < minPooledBytes) return { headers, body }
      return { headers, body, pooled: new PooledBody() }
    }
    const text = printArrayText(array, this.nonFinite)
    if (!isPromise(text)) return jsonResponse(text)
    return text.then((body) => ({ ...jsonResponse(body), pooled: new PooledBody() }))
  }

  /**
   * Casts and reshapes an array that a tensor protocol received.
   *
   * @throws BadInput.
   */
  fromArray(array: NDArray): NDArray<D, ShapeOf<P>> {
    return this.#convert(array, BadInput) as NDArray<D, ShapeOf<P>>
  }

  /**
   * Casts and reshapes the function's array for a tensor protocol.
   *
   * @throws BadOutput.
   */
  toArray(value: NDArray): NDArray {
    if (!(value instanceof NDArray))
      throw new BadOutput(expected('an NDArray', 'NumpyNdarray', value))
    return this.#convert(value, BadOutput)
  }

  /** Reads a message, or bytes: FlatBuffers (proto/ndarray.fbs), .npy, or little-endian elements of `dtype`. */
  override fromProto(message: NDArrayMessage | Uint8Array): NDArray<D, ShapeOf<P>> {
    const name = 'NumpyNdarray'
    if (message instanceof Uint8Array)
      return this.fromArray(parseSerialized(message, this.dtype, name))
    return this.fromArray(fromNDArrayMessage(message, name))
  }

  /**
   * @returns a message; bytes if messages have no list for its dtype, or if the call's `accept`
   * asks for them.
   */
  override toProto(value: NDArray, ctx?: Context): NDArrayMessage | Uint8Array {
    const array = this.toArray(value)
    const form = acceptedForm(ctx?.headers.get('accept'))
    if (form !== undefined) return form.encode(array, allocateWithHeadroom)
    return toNDArrayMessage(array) ?? encodeNdarrayFlatbuffer(array, allocateWithHeadroom)
  }

  #fromParsed(parsed: NDArray | ParseFailure): NDArray<D, ShapeOf<P>> {
    if ('failure' in parsed) throw parseError(parsed, this.dtype)
    return this.#inShape(parsed, BadInput) as NDArray<D, ShapeOf<P>>
  }

  #convert(array: NDArray, Refusal: typeof BadInput | typeof BadOutput): NDArray {
    const { dtype } = this
    const shaped = this.#inShape(array, Refusal)
    if (dtype === undefined || dtype === array.dtype) return shaped
    const refused = (what: string) =>
      new Refusal(`expected ${what} for NumpyNdarray, received dtype ${array.dtype}`, {
        reason: 'dtype',
      })
    if (this.enforceDtype && !isSameKind(array.dtype, dtype))
      throw refused(`an array of dtype ${dtype}`)
    const cast = castArray(shaped, dtype)
    if (cast === undefined) throw refused(`elements that fit dtype ${dtype}`)
    return cast
  }

  /**
   * Reshapes without a copy.
   *
   * @throws Refusal `shape`.
   */
  #inShape(array: NDArray, Refusal: typeof BadInput | typeof BadOutput): NDArray {
    const { shape: own } = array
    const pattern = this.shape
    if (pattern === undefined) return array
    if (this.enforceShape && matchesShape(own, pattern)) return array
    const shape = this.enforceShape ? undefined : reshapeTo(own, pattern)
    if (shape === own) return array
    if (shape !== undefined) return new NDArray(array.data, shape, array.dtype)
    const message = `expected shape ${showShape(pattern)} for NumpyNdarray, received shape ${showShape(own)}`
    throw new Refusal(message, { reason: 'shape' })
  }
}

function jsonResponse(body: Chunk | undefined): HttpResponse {
  if (body === undefined)
    throw new BadOutput('expected finite numbers for NumpyNdarray, received NaN or an infinity')
  return { headers: jsonHeaders, body }
}

const readable = `application/json or ${[...ndarrayForms.keys()].join(' or ')}`

function isReadable(type: MediaType): boolean {
  return isJsonType(type) || ndarrayForms.has(type.essence)
}

function parseError({ failure, offset, path }: ParseFailure, dtype: DType | undefined): BadInput {
  const elements =
    dtype === undefined ? 'a list of numbers, booleans or strings' : `elements of dtype ${dtype}`
  const range = `numbers in the range of dtype ${dtype ?? 'float64'}`
  const kinds: Record<
    ParseFailure['failure'],
    [BadInputReason, what: string, received: string, when?: string]
  > = {
    syntax: ['syntax', 'JSON', 'another character or the end of the body'],
    encoding: ['encoding', 'UTF-8 text', 'an invalid byte sequence'],
    ragged: ['ragged', 'lists of equal length', 'a different one'],
    dtype: ['dtype', elements, 'an element of another kind'],
    range: ['dtype', range, 'one beyond'],
    precision: [
      'dtype',
      'integers within ±2^53',
      'one beyond; dtype int64 keeps it exact',
      ' without dtype',
    ],
    depth: ['shape', 'at most 64 dimensions', 'more'],
  }
  const [reason, what, received, when = ''] = kinds[failure]
  const element = path ? ` at ${path}` : ''
  const place = offset === undefined ? element : ` at byte ${offset}`
  const message = `expected ${what} for NumpyNdarray${when}, received ${received}${place}`
  return new BadInput(message, { reason, offset, path: path || undefined })
}
