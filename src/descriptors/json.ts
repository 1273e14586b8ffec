/**
 * The descriptor of JSON values, with or without a schema.
 * @module
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { BadInput, BadOutput, expected, InvalidArgument, ServingError } from '../errors.ts'
import { isJsonType, requireMediaType } from '../http/media-type.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { checkOptions } from '../options.ts'
import { isPromise, type MaybePromise, whenReady } from '../promise.ts'
import { type BigNumber, bigNumbersOf, parseWithBigInts } from '../text/json-numbers.ts'
import { parseJson } from '../text/parse-json.ts'
import { IODescriptor } from './descriptor.ts'
import { JSONEncoder } from './json-encoder.ts'

/** What a JSON text can say. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

/** Any schema object of the Standard Schema interface: zod, valibot, arktype. */
export type Schema = StandardSchemaV1

/** What the function receives: the schema's output, or a JSON value without one. */
export type JsonIn<S> = S extends Schema ? StandardSchemaV1.InferOutput<S> : JsonValue

/** What the function may return: the schema's input, or anything without one. */
export type JsonOut<S> = S extends Schema ? StandardSchemaV1.InferInput<S> : unknown

/** Options of {@link JSON}. **Source**: SPEC "JSON". */
export interface JsonOptions<S extends Schema | undefined = undefined> {
  /** The spec's `pydantic_model`: checks inputs (BadInput `schema`) and outputs (BadOutput), and types the function. */
  readonly schema?: S
  /**
   * Accepted and published in metadata, without effect: bodies are always parsed as JSON, and always checked where there is a `schema`.
   * **Source**: SPEC "JSON", which does not say what it does; the reference ignores it, too.
   */
  readonly validateJson?: boolean
  /** Writes what JSON has no words for. Default {@link JSONEncoder}. */
  readonly jsonEncoder?: new () => JSONEncoder
  /**
   * What becomes of integers that a double does not hold, such as 9007199254740993, and of numbers above the largest double. Our choice:
   * `'error'` by default, since an id that changes in silence is another client's. `'bigint'` gives such integers as bigints, which a
   * schema must allow; `'round'` takes the nearest double, or Infinity, as JSON.parse.
   */
  readonly bigNumbers?: BigNumbers
}

/** What becomes of numbers that a double does not hold. */
export type BigNumbers = 'error' | 'bigint' | 'round'

const optionNames = ['schema', 'validateJson', 'jsonEncoder', 'bigNumbers'] as const
const jsonHeaders = [['content-type', 'application/json']] as const

/**
 * A JSON body becomes a value, checked by the schema; a value becomes JSON text. Exported as `io.JSON`.
 *
 * **Wire**: UTF-8, a byte order mark is skipped; of duplicate keys the last one counts; `undefined` is written as `null`.
 * **Errors**: BadInput `syntax`, `encoding` (with the byte offset), `schema` (with the path); 415 for a type that is not JSON.
 * **Source**: SPEC "JSON". Our choice: outputs are checked by the schema, too; at most 128 levels of nesting.
 * **Example** `new io.JSON({ schema: z.object({ name: z.string() }) })`
 */
export class JSON<S extends Schema | undefined = undefined> extends IODescriptor<JsonIn<S>, JsonOut<S>> {
  readonly mimeType = 'application/json'
  override readonly readsHeaders: readonly string[] = []
  override readonly protoField = 'json'
  override readonly descriptorId: string = 'serving.io.JSON'
  override readonly publicOptions: readonly string[] = optionNames
  readonly schema: S | undefined
  readonly validateJson: boolean | undefined
  readonly bigNumbers: BigNumbers
  /** What `fromSample` was given, parsed. */
  readonly sample: unknown
  readonly #encoder: JSONEncoder

  constructor(options: JsonOptions<S> = {}, sample?: unknown) {
    super()
    checkOptions('JSON', options, optionNames)
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
   * An object, a list or JSON text (string or bytes) becomes a descriptor with that example.
   * **Errors**: BadInput when the text is not JSON, the value is of another kind, holds what has no JSON (with its path: functions, cycles,
   * and Maps and Sets unless a `jsonEncoder` is given), or the schema refuses it.
   */
  static fromSample<S extends Schema | undefined = undefined>(sample: unknown, options: JsonOptions<S> = {}): JSON<S> {
    const isText = typeof sample === 'string' || sample instanceof Uint8Array
    if (!isText && (typeof sample !== 'object' || sample === null)) {
      throw new BadInput(expected('an object, a list or JSON text', 'JSON.fromSample', sample))
    }
    const bytes = typeof sample === 'string' ? Buffer.from(sample) : sample
    const value =
      bytes instanceof Uint8Array ? parseNumbers(bytes, 'JSON.fromSample', options.bigNumbers ?? 'error') : sample
    if (value === sample) checkSample(value, options.jsonEncoder)
    const result = options.schema?.['~standard'].validate(value)
    // A schema that answers later cannot be asked here; requests will be.
    if (result !== undefined && !isPromise(result) && result.issues !== undefined) {
      throw schemaError(result.issues, 'JSON.fromSample')
    }
    return new JSON(options, value)
  }

  fromHttpRequest(request: HttpRequest): MaybePromise<JsonIn<S>> {
    requireMediaType(request.headers, isJsonType, 'application/json', 'JSON')
    return this.#check(parseNumbers(request.peek(), 'JSON', this.bigNumbers))
  }

  /** A Value, or JSON text, becomes a value, by the rules of a body. */
  override fromProto(message: unknown): MaybePromise<JsonIn<S>> {
    return this.#check(message instanceof Uint8Array ? parseNumbers(message, 'JSON', this.bigNumbers) : message)
  }

  /** A value becomes the Value of its JSON text, so that both say the same; its numbers are float64. */
  override toProto(value: JsonOut<S>): MaybePromise<unknown> {
    return whenReady(this.toHttpResponse(value), ({ body }) => globalThis.JSON.parse(body as string))
  }

  #check(value: unknown): MaybePromise<JsonIn<S>> {
    if (this.schema === undefined) return value as JsonIn<S>
    return whenReady(this.schema['~standard'].validate(value), (result) => {
      if (result.issues !== undefined) throw schemaError(result.issues, 'JSON')
      return result.value as JsonIn<S>
    })
  }

  toHttpResponse(value: JsonOut<S>): MaybePromise<HttpResponse> {
    if (this.schema === undefined) return this.#encode(value)
    return whenReady(this.schema['~standard'].validate(value), (result) => {
      if (result.issues !== undefined) {
        const { message, path } = schemaError(result.issues, 'JSON')
        throw new BadOutput(message, { path })
      }
      return this.#encode(result.value)
    })
  }

  #encode(value: unknown): HttpResponse {
    return { headers: jsonHeaders, body: this.#encoder.encode(value) }
  }
}

/** Refuses a sample that has no JSON. **Errors**: BadInput with the path. */
function checkSample(sample: unknown, encoder: JsonOptions['jsonEncoder']): void {
  try {
    ;new (encoder ?? StrictEncoder)().encode(sample)
  } catch (cause) {
    const path = ServingError.is(cause) ? cause.path : undefined
    throw new BadInput(expected('values that JSON has', 'JSON.fromSample', sample), { path, cause })
  }
}

/** Of the encoder's own conversions, those that have a counterpart in JSON. */
class StrictEncoder extends JSONEncoder {
  override default(value: unknown): unknown {
    if (!(value instanceof Map || value instanceof Set)) return super.default(value)
    throw new BadOutput(expected('a value that JSON has', 'JSON', value))
  }
}

/** JSON text becomes a value. **Errors**: BadInput: of the text, and `dtype` for a number that a double does not hold. */
function parseNumbers(bytes: Uint8Array, name: string, bigNumbers: BigNumbers): unknown {
  const value = parseJson(bytes, name)
  if (bigNumbers === 'round') return value
  const integers: BigNumber[] = []
  for (const number of bigNumbersOf(bytes)) {
    if (!number.isInteger || bigNumbers === 'error') throw bigNumberError(number, name)
    integers.push(number)
  }
  return integers.length === 0 ? value : parseWithBigInts(bytes, integers)
}

function bigNumberError({ text, start, isInteger }: BigNumber, name: string): BadInput {
  const limit = isInteger ? 'integers that a double holds' : 'numbers up to 1.8e308'
  const advice = isInteger ? ' (bigNumbers takes others)' : ''
  const message = `expected ${limit} for ${name}${advice}, received ${text.slice(0, 80)} at byte ${start}`
  return new BadInput(message, { reason: 'dtype', offset: start })
}

// A list of a million wrong elements has as many issues.
const maxIssues = 64

function schemaError(issues: readonly StandardSchemaV1.Issue[], name: string): BadInput {
  const listed = issues.slice(0, maxIssues).map(({ message, path }) => ({ path: pathOf(path), message }))
  const shown = listed.slice(0, 5).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const more = issues.length > 5 ? ` (and ${issues.length - 5} more)` : ''
  const path = listed[0]?.path ?? ''
  return new BadInput(
    `expected a value that fits the schema for ${name}, received one that does not: ${shown.join('; ')}${more}`,
    { reason: 'schema', issues: listed, ...(path !== '' && { path }) },
  )
}

function pathOf(path: StandardSchemaV1.Issue['path']): string {
  let text = ''
  for (const part of path ?? []) {
    const key = typeof part === 'object' ? part.key : part
    text += typeof key === 'number' ? `[${key}]` : `${text === '' ? '' : '.'}${String(key)}`
  }
  return text
}
