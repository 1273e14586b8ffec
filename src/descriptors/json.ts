import { BadInput, BadOutput, expected, ServingError } from '../core/errors.ts'
import { exampleFor } from '../core/json-schema/sample.ts'
import { checkAtLeast, checkOneOf, checkOptions, checkThat } from '../core/options.ts'
import { utf8Bytes } from '../core/platform.ts'
import { isPromise, type MaybePromise, whenDefined, whenReady } from '../core/promise.ts'
import type { BigNumbers } from '../core/text/json-numbers.ts'
import {
  defaultMaxBytes,
  defaultMaxKeys,
  maxParsedValues,
  maxWalkedValues,
  parseJson,
} from '../core/text/parse-json.ts'
import { parseText } from '../core/text/parse-text.ts'
import type { Context } from '../http/context.ts'
import { isJsonType, requireMediaType } from '../http/media-type.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { constantHeaders } from '../http/response-head.ts'
import {
  attempt,
  exampleIn,
  type FormatDescription,
  type Formats,
  type JsonSchema,
} from './description.ts'
import { IODescriptor } from './descriptor.ts'
import { JSONEncoder } from './json-encoder.ts'
import { isJsonStream, type JsonPieces, streamFormats, streamResponse } from './json-stream.ts'
import { checkSchema, runSchema, type StandardSchemaV1 } from './run-schema.ts'
import { schemaError } from './schema-error.ts'
import { type Direction, jsonSchemaOf } from './standard-json-schema.ts'

/** Any JSON value. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | JsonValue[]
  | { [key: string]: JsonValue }

/** Any schema that implements Standard Schema: zod, valibot, arktype. */
export type Schema = StandardSchemaV1

/** The function's input: the schema's output, or any JSON value. */
export type JsonIn<S> = S extends Schema ? StandardSchemaV1.InferOutput<S> : JsonValue

/** The function's result or the pieces that it yields: the schema's input, or anything. */
export type JsonOut<S> = S extends Schema
  ? StandardSchemaV1.InferInput<S> | JsonPieces<StandardSchemaV1.InferInput<S>>
  : unknown

/**
 * Options of {@link JSON}.
 *
 * @see SPEC "JSON".
 */
export interface JsonOptions<S extends Schema | undefined = undefined> {
  /** Checks inputs (BadInput `schema`) and outputs (BadOutput), and types the function. SPEC: `pydantic_model`. */
  readonly schema?: S | null
  /** Has no effect, as in BentoML: bodies are always JSON, and always checked if there is a `schema`. */
  readonly validateJson?: boolean | null
  /** Writes values that JSON.stringify cannot. Default {@link JSONEncoder}. */
  readonly jsonEncoder?: new () => JSONEncoder
  /**
   * How to read integers that a double cannot hold, and numbers above the largest double. Default `'error'`: a changed
   * id may be another client's. `'bigint'` reads such integers as bigints, which a schema must allow; `'round'` takes
   * the nearest double or Infinity, as JSON.parse.
   */
  readonly bigNumbers?: BigNumbers
  /**
   * Longest body; longer ones are refused with 413. **Units**: bytes.
   *
   * @default 4 MiB
   */
  readonly maxBytes?: number
  /**
   * Maximum number of values in a body, counted by commas and opening brackets; 413 for more.
   *
   * @default 250,000; 50,000 with a schema
   */
  readonly maxValues?: number
  /**
   * Maximum number of keys of one object, duplicates counted; 413 for more.
   *
   * @default 50,000
   */
  readonly maxKeys?: number
}

const optionNames = [
  'schema',
  'validateJson',
  'jsonEncoder',
  'bigNumbers',
  'maxBytes',
  'maxValues',
  'maxKeys',
] as const
const jsonHeaders = constantHeaders([['content-type', 'application/json']])
// An example in a document is read by people.
const maxExampleLength = 10_000

/**
 * Decodes a JSON body to a value, checked by the schema; encodes a value as JSON text. Exported as
 * `io.JSON`.
 *
 * **Wire**: UTF-8, with or without a byte order mark; the last duplicate key wins; `undefined` is
 * written as `null`. An empty body of a JSON type is null. Values of a generator, async iterable or
 * iterator are lines of `application/x-ndjson`, or server-sent events if the client prefers
 * `text/event-stream`.
 *
 * @throws BadInput `syntax`, `encoding` (with the byte offset), `schema` (with the path); 415 for
 * another type; 413 above `maxBytes`, `maxValues` or `maxKeys`. **Cost**: parsing, checking and
 * writing hold the event loop.
 * @example
 * `new io.JSON({ schema: z.object({ name: z.string() }) })`
 * @see SPEC "JSON"; our choice: at most 128 levels.
 */
export class JSON<S extends Schema | undefined = undefined> extends IODescriptor<
  JsonIn<S>,
  JsonOut<S>
> {
  readonly mimeType = 'application/json'
  override readonly readsHeaders: readonly string[] = ['accept']
  override readonly protoField = 'json'
  override readonly descriptorId: string = 'serving.io.JSON'
  // A schema is code: metadata cannot hold it.
  override readonly publicOptions: readonly string[] = [
    'validateJson',
    'bigNumbers',
    'maxBytes',
    'maxValues',
    'maxKeys',
  ]
  readonly schema: S | undefined
  readonly validateJson: boolean | undefined
  readonly bigNumbers: BigNumbers
  readonly maxBytes: number
  readonly maxValues: number
  readonly maxKeys: number
  readonly sample: unknown
  readonly #encoder: JSONEncoder

  constructor(given: JsonOptions<S> = {}, sample?: unknown) {
    super()
    const options = checkOptions('JSON', given, optionNames)
    const { schema, jsonEncoder = JSONEncoder } = options
    this.bigNumbers = checkOneOf('bigNumbers', options.bigNumbers ?? 'error', [
      'error',
      'bigint',
      'round',
    ])
    checkSchema(schema, 'schema')
    this.schema = schema
    this.validateJson = options.validateJson
    this.maxBytes = checkAtLeast('maxBytes', options.maxBytes ?? defaultMaxBytes, 1)
    this.maxValues = checkAtLeast(
      'maxValues',
      options.maxValues ?? (schema ? maxWalkedValues : maxParsedValues),
      1,
    )
    this.maxKeys = checkAtLeast('maxKeys', options.maxKeys ?? defaultMaxKeys, 1)
    this.sample = sample
    const isEncoder = typeof jsonEncoder?.prototype?.encode === 'function'
    checkThat(isEncoder, 'a class that extends JSONEncoder', 'jsonEncoder', jsonEncoder)
    this.#encoder = new jsonEncoder()
  }

  /**
   * Makes a descriptor with a sample: an object, a list or JSON text (string or bytes).
   *
   * @throws BadInput if it is not JSON, has what JSON cannot express (such as cycles, or Maps
   * without a `jsonEncoder`), or the schema refuses it.
   */
  static fromSample<S extends Schema | undefined = undefined>(
    sample: unknown,
    options: JsonOptions<S> = {},
  ): JSON<S> {
    const isText = typeof sample === 'string' || sample instanceof Uint8Array
    if (!isText && (typeof sample !== 'object' || sample === null)) {
      throw new BadInput(expected('an object, a list or JSON text', 'JSON.fromSample', sample))
    }
    const bytes = typeof sample === 'string' ? utf8Bytes(sample) : sample
    const rules = { ...noLimits, bigNumbers: options.bigNumbers ?? 'error' }
    const value = bytes instanceof Uint8Array ? parseJson(bytes, 'JSON.fromSample', rules) : sample
    if (value === sample) checkSample(value, options.jsonEncoder)
    const { schema } = options
    const result = whenDefined(schema, (each) => runSchema(each as Schema, value))
    // An asynchronous check of the sample is not awaited; requests are still checked.
    if (isPromise(result)) Promise.resolve(result).catch(() => {})
    else if (result?.issues !== undefined) throw schemaError(result.issues, 'JSON.fromSample')
    return new JSON(options, value)
  }

  protected override formats(): Formats {
    const { schema, mimeType } = this
    const format = (own: JsonSchema): FormatDescription => {
      // Not checked by the schema, whose functions may fail, wait or have effects.
      const value = this.sample ?? (schema && attempt(() => exampleFor(own)))
      const text = attempt(() => whenDefined(value, (each) => this.#encoder.encode(each)))
      const isShort = text !== undefined && text.length <= maxExampleLength
      return { mimeType, schema: own, ...(isShort && exampleIn(text)) }
    }
    const schemaIn = (direction: Direction) =>
      schema === undefined ? {} : jsonSchemaOf(schema, direction)
    return {
      input: [format(schemaIn('input'))],
      output: [format(schemaIn('output'))],
      stream: streamFormats(schemaIn('output')),
      reasons: ['syntax', 'encoding', ...(schema === undefined ? [] : (['schema'] as const))],
    }
  }

  fromHttpRequest(request: HttpRequest): MaybePromise<JsonIn<S>> {
    const type = requireMediaType(request.headers, isJsonType, 'application/json', 'JSON')
    const bytes = request.peek()
    // BentoML's clients send this for Python's null.
    if (bytes.length === 0 && type !== undefined) return this.#check(null)
    return this.#check(parseJson(bytes, 'JSON', this))
  }

  override fromProto(message: unknown): MaybePromise<JsonIn<S>> {
    return this.#check(message instanceof Uint8Array ? parseJson(message, 'JSON', this) : message)
  }

  /**
   * @returns the Value of the result's JSON text, so that RPC and HTTP agree: numbers are float64,
   * streams are lists.
   */
  override toProto(value: JsonOut<S>, ctx?: Context): MaybePromise<unknown> {
    if (isJsonStream(value)) return this.#collect(value, ctx)
    return this.#message(value)
  }

  /** @returns a Value for each piece of a generator; one for any other result. */
  override async *toProtoStream(value: JsonOut<S>): AsyncGenerator<unknown> {
    if (!isJsonStream(value)) yield await this.#message(value)
    else for await (const piece of value) yield await this.#message(piece)
  }

  async #collect(pieces: JsonPieces<unknown>, ctx: Context | undefined): Promise<unknown[]> {
    const list: unknown[] = []
    for await (const piece of pieces) {
      const gone = ctx?.abortReason
      if (gone !== undefined) throw gone
      list.push(await this.#message(piece))
    }
    return list
  }

  #message(value: unknown): MaybePromise<unknown> {
    return whenReady(this.#text(value), (text) => parseText(text))
  }

  #check(value: unknown): MaybePromise<JsonIn<S>> {
    const { schema } = this
    if (schema === undefined) return value as JsonIn<S>
    return whenReady<StandardSchemaV1.Result<unknown>, JsonIn<S>>(
      runSchema(schema, value),
      (result) => {
        if (result.issues !== undefined) throw schemaError(result.issues, 'JSON')
        return result.value as JsonIn<S>
      },
    )
  }

  /** Takes a body, before the schema has changed it. */
  override encodeExample(
    example: S extends Schema ? StandardSchemaV1.InferInput<S> : JsonValue,
  ): HttpResponse {
    return { headers: jsonHeaders, body: this.#encoder.encode(example) }
  }

  toHttpResponse(value: JsonOut<S>, ctx?: Context): MaybePromise<HttpResponse> {
    if (isJsonStream(value)) return streamResponse(value, (piece) => this.#text(piece), ctx)
    return whenReady(this.#text(value), (body) => ({ headers: jsonHeaders, body }))
  }

  #text(value: unknown): MaybePromise<string> {
    const { schema } = this
    if (schema === undefined) return this.#encoder.encode(value)
    return whenReady<StandardSchemaV1.Result<unknown>, string>(
      runSchema(schema, value),
      (result) => {
        if (result.issues !== undefined) {
          const { message, path } = schemaError(result.issues, 'JSON')
          throw new BadOutput(message, { path })
        }
        return this.#encoder.encode(result.value)
      },
    )
  }
}

const unbounded = Number.POSITIVE_INFINITY
/** For texts of the application's own. */
const noLimits = { maxBytes: unbounded, maxValues: unbounded, maxKeys: unbounded }

/** @throws BadInput with the path, for what JSON cannot express. */
function checkSample(sample: unknown, encoder: JsonOptions['jsonEncoder']): void {
  try {
    ;new (encoder ?? StrictEncoder)().encode(sample)
  } catch (cause) {
    const path = ServingError.is(cause) ? cause.path : undefined
    throw new BadInput(expected('values that JSON has', 'JSON.fromSample', sample), { path, cause })
  }
}

/** Refuses Map and Set, which JSON cannot express. */
class StrictEncoder extends JSONEncoder {
  override default(value: unknown): unknown {
    if (!(value instanceof Map || value instanceof Set)) return super.default(value)
    throw new BadOutput(expected('a value that JSON has', 'JSON', value))
  }
}
