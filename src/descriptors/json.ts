/**
 * The descriptor for JSON values, with or without a schema.
 * @module
 */
import { BadInput, BadOutput, expected, InvalidArgument, ServingError } from '../core/errors.ts'
import { checkAtLeast, checkOptions } from '../core/options.ts'
import { isPromise, type MaybePromise, whenReady } from '../core/promise.ts'
import type { BigNumbers } from '../core/text/json-numbers.ts'
import { defaultMaxBytes, defaultMaxKeys, maxParsedValues, parseJson } from '../core/text/parse-json.ts'
import { constantHeaders } from '../http/constant-headers.ts'
import type { Context } from '../http/context.ts'
import { isJsonType, requireMediaType } from '../http/media-type.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { attempt, exampleIn, type FormatDescription, type Formats, type JsonSchema } from './description.ts'
import { IODescriptor } from './descriptor.ts'
import { JSONEncoder } from './json-encoder.ts'
import { isJsonStream, type JsonPieces, streamFormats, streamResponse } from './json-stream.ts'
import { runSchema, type StandardSchemaV1 } from './run-schema.ts'
import { schemaError } from './schema-error.ts'
import { exampleFor } from './schema-example.ts'
import { type Direction, jsonSchemaOf } from './standard-json-schema.ts'

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

/** Any schema that implements Standard Schema: zod, valibot, arktype. */
export type Schema = StandardSchemaV1

/** What the function receives: the schema's output, or any JSON value without a schema. */
export type JsonIn<S> = S extends Schema ? StandardSchemaV1.InferOutput<S> : JsonValue

/** What the function may return, or yield piece by piece: the schema's input, or anything without a schema. */
export type JsonOut<S> = S extends Schema
  ? StandardSchemaV1.InferInput<S> | JsonPieces<StandardSchemaV1.InferInput<S>>
  : unknown

/** Options of {@link JSON}. **Source**: SPEC "JSON". */
export interface JsonOptions<S extends Schema | undefined = undefined> {
  /** The spec's `pydantic_model`: checks inputs (BadInput `schema`) and outputs (BadOutput), and types the function. */
  readonly schema?: S | null
  /**
   * Accepted and published in metadata, but has no effect: bodies are always parsed as JSON, and always checked if
   * there is a `schema`.
   * **Source**: SPEC "JSON", which does not define its effect; the reference ignores it, too.
   */
  readonly validateJson?: boolean | null
  /** Writes values that JSON.stringify cannot. Default {@link JSONEncoder}. */
  readonly jsonEncoder?: new () => JSONEncoder
  /**
   * How to read integers that a double cannot hold, such as 9007199254740993, and numbers above the largest double. Our
   * choice: `'error'` by default, since an id that is silently changed may be another client's. `'bigint'` reads such
   * integers as bigints, which a schema must allow; `'round'` takes the nearest double, or Infinity, like JSON.parse.
   */
  readonly bigNumbers?: BigNumbers
  /** Longest body; longer ones are refused with 413. Default: 4 MiB. **Units**: bytes. */
  readonly maxBytes?: number
  /**
   * Maximum number of values in a body: lists, objects, strings, numbers and words, counted by commas and opening
   * brackets; more are refused with 413. Default: 250,000; 50,000 with a schema, which checks them in one call.
   */
  readonly maxValues?: number
  /**
   * Maximum number of keys of one object in a body, a key that comes twice counted twice; more are refused with 413.
   * Default: 100,000.
   */
  readonly maxKeys?: number
}

const optionNames = ['schema', 'validateJson', 'jsonEncoder', 'bigNumbers', 'maxBytes', 'maxValues', 'maxKeys'] as const
// A schema makes an issue of each value that it refuses.
const maxCheckedValues = 50_000
const jsonHeaders = constantHeaders([['content-type', 'application/json']])
// An example in a document is read by people.
const maxExampleLength = 10_000

/**
 * Decodes a JSON body to a value, checked by the schema; encodes a value as JSON text, and what a generator yields
 * value by value. Exported as `io.JSON`.
 *
 * **Wire**: UTF-8, a byte order mark is skipped; the last of duplicate keys wins; `undefined` is written as `null`. An
 * empty body that is said to be JSON is read as null. The values of a generator, or of any other async iterable or
 * iterator, are lines of `application/x-ndjson`, or the data of server-sent events for clients that prefer
 * `text/event-stream` by Accept.
 * **Errors**: BadInput `syntax`, `encoding` (with the byte offset), `size` (a number or blanks above 1 MiB), `schema`
 * (with the path); 415 for a type that is not JSON; 413 for more than `maxBytes` bytes, `maxValues` values or `maxKeys`
 * keys of an object.
 * **Cost**: no other request is answered while a body is parsed and checked, or a result checked and written.
 * **Source**: SPEC "JSON". Our choice: outputs are checked by the schema, too; at most 128 levels of nesting.
 * **Example** `new io.JSON({ schema: z.object({ name: z.string() }) })`
 */
export class JSON<S extends Schema | undefined = undefined> extends IODescriptor<JsonIn<S>, JsonOut<S>> {
  readonly mimeType = 'application/json'
  override readonly readsHeaders: readonly string[] = ['accept']
  override readonly protoField = 'json'
  override readonly descriptorId: string = 'serving.io.JSON'
  // A schema is code, which metadata does not hold.
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
  /** The sample passed to `fromSample`, parsed. */
  readonly sample: unknown
  readonly #encoder: JSONEncoder

  constructor(given: JsonOptions<S> = {}, sample?: unknown) {
    super()
    const options = checkOptions('JSON', given, optionNames)
    const { schema, jsonEncoder, bigNumbers = 'error' } = options
    if (bigNumbers !== 'error' && bigNumbers !== 'bigint' && bigNumbers !== 'round') {
      throw new InvalidArgument(expected("'error', 'bigint' or 'round'", 'bigNumbers', bigNumbers))
    }
    this.bigNumbers = bigNumbers
    if (schema !== undefined && typeof schema?.['~standard']?.validate !== 'function') {
      throw new InvalidArgument(expected('a Standard Schema object', 'schema', schema))
    }
    this.schema = schema
    this.validateJson = options.validateJson
    this.maxBytes = checkAtLeast('maxBytes', options.maxBytes ?? defaultMaxBytes, 1)
    this.maxValues = checkAtLeast('maxValues', options.maxValues ?? (schema ? maxCheckedValues : maxParsedValues), 1)
    this.maxKeys = checkAtLeast('maxKeys', options.maxKeys ?? defaultMaxKeys, 1)
    this.sample = sample
    if (jsonEncoder !== undefined && typeof jsonEncoder !== 'function') {
      throw new InvalidArgument(expected('a class that extends JSONEncoder', 'jsonEncoder', jsonEncoder))
    }
    this.#encoder = new (jsonEncoder ?? JSONEncoder)()
    if (typeof this.#encoder.encode !== 'function') {
      throw new InvalidArgument(expected('a class that extends JSONEncoder', 'jsonEncoder', jsonEncoder))
    }
  }

  /**
   * Makes a descriptor with a sample: an object, a list or JSON text (string or bytes).
   * **Errors**: BadInput if the text is not JSON, the value is of another kind or contains what JSON cannot express
   * (with its path: functions, cycles, and Maps and Sets unless a `jsonEncoder` is given), or the schema refuses it.
   */
  static fromSample<S extends Schema | undefined = undefined>(sample: unknown, options: JsonOptions<S> = {}): JSON<S> {
    const isText = typeof sample === 'string' || sample instanceof Uint8Array
    if (!isText && (typeof sample !== 'object' || sample === null)) {
      throw new BadInput(expected('an object, a list or JSON text', 'JSON.fromSample', sample))
    }
    const bytes = typeof sample === 'string' ? Buffer.from(sample) : sample
    const rules = { ...noLimits, bigNumbers: options.bigNumbers ?? 'error' }
    const value = bytes instanceof Uint8Array ? parseJson(bytes, 'JSON.fromSample', rules) : sample
    if (value === sample) checkSample(value, options.jsonEncoder)
    const { schema } = options
    const result = schema ? runSchema(schema, value) : undefined
    // The result of an asynchronous schema is not awaited here; it still checks requests.
    if (isPromise(result)) Promise.resolve(result).catch(() => {})
    else if (result?.issues !== undefined) throw schemaError(result.issues, 'JSON.fromSample')
    return new JSON(options, value)
  }

  protected override formats(): Formats {
    const { schema, mimeType } = this
    const format = (own: JsonSchema): FormatDescription => {
      // Not checked by the schema, whose functions may fail, wait or have effects.
      const value = this.sample ?? (schema === undefined ? undefined : exampleFor(own))
      const text = value === undefined ? undefined : attempt(() => this.#encoder.encode(value))
      const isShort = text !== undefined && text.length <= maxExampleLength
      return { mimeType, schema: own, ...(isShort && exampleIn(text)) }
    }
    const schemaIn = (direction: Direction) => (schema === undefined ? {} : jsonSchemaOf(schema, direction))
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
    // What BentoML's clients send for None.
    if (bytes.length === 0 && type !== undefined) return this.#check(null)
    return this.#check(parseJson(bytes, 'JSON', this))
  }

  /** Reads a Value message or JSON text, by the rules for a body. */
  override fromProto(message: unknown): MaybePromise<JsonIn<S>> {
    return this.#check(message instanceof Uint8Array ? parseJson(message, 'JSON', this) : message)
  }

  /**
   * Returns the Value of the result's JSON text, so that RPC and HTTP agree; its numbers are float64. That of a
   * generator is a list of its values.
   */
  override toProto(value: JsonOut<S>, ctx?: Context): MaybePromise<unknown> {
    return isJsonStream(value) ? this.#collect(value, ctx) : this.#message(value)
  }

  /** Returns a Value for each piece of a generator; one for any other result. */
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
    return whenReady(this.#text(value), (text) => globalThis.JSON.parse(text))
  }

  #check(value: unknown): MaybePromise<JsonIn<S>> {
    const { schema } = this
    if (schema === undefined) return value as JsonIn<S>
    return whenReady<StandardSchemaV1.Result<unknown>, JsonIn<S>>(runSchema(schema, value), (result) => {
      if (result.issues !== undefined) throw schemaError(result.issues, 'JSON')
      return result.value as JsonIn<S>
    })
  }

  toHttpResponse(value: JsonOut<S>, ctx?: Context): MaybePromise<HttpResponse> {
    if (isJsonStream(value)) return streamResponse(value, (piece) => this.#text(piece), ctx)
    return whenReady(this.#text(value), (body) => ({ headers: jsonHeaders, body }))
  }

  /** Returns the text of a value, checked by the schema. */
  #text(value: unknown): MaybePromise<string> {
    const { schema } = this
    if (schema === undefined) return this.#encoder.encode(value)
    return whenReady<StandardSchemaV1.Result<unknown>, string>(runSchema(schema, value), (result) => {
      if (result.issues !== undefined) {
        const { message, path } = schemaError(result.issues, 'JSON')
        throw new BadOutput(message, { path })
      }
      return this.#encoder.encode(result.value)
    })
  }
}

const unbounded = Number.POSITIVE_INFINITY
/** For texts of the application's own. */
const noLimits = { maxBytes: unbounded, maxValues: unbounded, maxKeys: unbounded }

/** Refuses a sample that JSON cannot express. **Errors**: BadInput with the path. */
function checkSample(sample: unknown, encoder: JsonOptions['jsonEncoder']): void {
  try {
    ;new (encoder ?? StrictEncoder)().encode(sample)
  } catch (cause) {
    const path = ServingError.is(cause) ? cause.path : undefined
    throw new BadInput(expected('values that JSON has', 'JSON.fromSample', sample), { path, cause })
  }
}

/** An encoder that refuses Map and Set, which have no counterpart in JSON. */
class StrictEncoder extends JSONEncoder {
  override default(value: unknown): unknown {
    if (!(value instanceof Map || value instanceof Set)) return super.default(value)
    throw new BadOutput(expected('a value that JSON has', 'JSON', value))
  }
}
