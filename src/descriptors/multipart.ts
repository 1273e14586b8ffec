import { BadInput, BadOutput, expected, InvalidArgument } from '../core/errors.ts'
import { checkOptions, checkThat } from '../core/options.ts'
import {
  isPromise,
  type MaybePromise,
  whenAllReady,
  whenDefined,
  whenReady,
} from '../core/promise.ts'
import { parseContentDisposition } from '../http/content-disposition.ts'
import type { Context } from '../http/context.ts'
import { defaultFormLimits, type FormLimits, formBoundary } from '../http/form/form-parser.ts'
import { type WrittenPart, writeForm } from '../http/form/form-writer.ts'
import {
  bytesOfChunk,
  collectBody,
  type HeaderNames,
  HttpRequest,
  type HttpResponse,
  headerOf,
  isAsyncBody,
  isChunk,
  isHeaderValue,
  joinHeaderNames,
  lengthOf,
  type RequestHeaders,
} from '../http/message.ts'
import type { MultipartMessage } from '../messages/messages.ts'
import type { Formats } from './description.ts'
import {
  type AnyDescriptor,
  type BodyReceiver,
  type ExampleOf,
  IODescriptor,
  type Received,
  type Returned,
} from './descriptor.ts'
import { FormReader, inPart } from './form-reader.ts'
import { type PartOfSample, partOfSample } from './part-of-sample.ts'
import { formHeaders, partValues, planParts } from './part-plan.ts'
import { PartRule } from './part-rule.ts'

/** Descriptors by part name: each part comes once, unless {@link many} or {@link optional} says otherwise. */
export type Parts = Readonly<Record<string, AnyDescriptor | PartRule>>

type PartIn<P> =
  P extends PartRule<infer D, infer O>
    ? O extends 'many'
      ? Received<D>[]
      : Received<D> | undefined
    : Received<P>
/** What descriptor `D` writes: a function's result, or an example. */
type Written<D, From> = From extends 'result' ? Returned<D> : ExampleOf<D>
type PartOut<P, From> =
  P extends PartRule<infer D, infer O>
    ? O extends 'many'
      ? readonly Written<D, From>[]
      : Written<D, From>
    : Written<P, From>
type IsOptional<P> = P extends PartRule<infer _, 'optional'> ? true : false

/** The function's input: a value for each part. */
export type MultipartIn<P extends Parts> = { [K in keyof P]: PartIn<P[K]> }

type FormOut<P extends Parts, From> = {
  [K in keyof P as IsOptional<P[K]> extends true ? never : K]: PartOut<P[K], From>
} & {
  [K in keyof P as IsOptional<P[K]> extends true ? K : never]?: PartOut<P[K], From> | undefined
}

/** The function's result: a value for each part. */
export type MultipartOut<P extends Parts> = FormOut<P, 'result'>

/** An example of a form: one for each part. */
export type MultipartExample<P extends Parts> = FormOut<P, 'example'>

/** Limits of a form; `maxBodyBytes` of the server limits the whole body. */
export interface MultipartOptions {
  /**
   * Maximum number of parts, declared or not.
   *
   * @default 1000
   */
  readonly maxParts?: number
  /** No limit by default. **Units**: bytes. */
  readonly maxPartBytes?: number
}

/**
 * Decodes a form to an object with a value for each declared part; encodes such an object as a
 * form.
 *
 * **Wire**: parts are matched by name, in any order, and read by their own headers. A part of type
 * `application/octet-stream`, `text/plain` or without a type is taken to be what its descriptor
 * reads, or what its file's name says. Other parts are skipped. Responses have the declared parts
 * in order; other keys are dropped.
 *
 * @throws BadInput `part` for a missing, repeated or malformed part; a part's own errors have its
 * name in their path, and offsets from its start; 415 for another type than multipart/form-data.
 * @example
 * `new io.Multipart({ image: new io.File(), arr: new io.NumpyNdarray() })`
 * @see SPEC "Multipart". Our choice: at least one part; values have no prototype, so that any name
 * works.
 */
export class Multipart<P extends Parts> extends IODescriptor<MultipartIn<P>, MultipartOut<P>> {
  readonly mimeType = 'multipart/form-data'
  override readonly readsHeaders: HeaderNames
  override readonly protoField = 'multipart'
  override readonly descriptorId: string = 'serving.io.Multipart'
  override readonly publicOptions: readonly string[] = ['parts']
  /** In declared order. */
  readonly parts: ReadonlyMap<string, IODescriptor>
  /** How often each part comes. */
  readonly rules: ReadonlyMap<string, PartRule<IODescriptor>>
  readonly #limits: FormLimits

  /**
   * @throws InvalidArgument for no parts, for a value that is not a descriptor, and for a Multipart
   * as a part.
   */
  constructor(parts: P, options: MultipartOptions = {}) {
    super()
    checkOptions('Multipart', options, ['maxParts', 'maxPartBytes'])
    const hasParts = typeof parts === 'object' && parts !== null && Object.keys(parts).length > 0
    checkThat(hasParts, 'an object of part names and descriptors', 'Multipart', parts)
    const rules = new Map<string, PartRule<IODescriptor>>()
    for (const [name, part] of Object.entries<unknown>(parts)) {
      const rule =
        part instanceof PartRule ? part : { descriptor: part, occurrence: 'one' as const }
      if (rule.descriptor instanceof Multipart)
        throw new InvalidArgument(
          `part ${JSON.stringify(name)} is a Multipart; forms cannot be nested`,
        )
      const isDescriptor = rule.descriptor instanceof IODescriptor
      checkThat(isDescriptor, 'an IODescriptor', `part ${JSON.stringify(name)} of Multipart`, part)
      rules.set(name, rule as PartRule<IODescriptor>)
    }
    this.rules = rules
    this.parts = new Map([...rules].map(([name, { descriptor }]) => [name, descriptor]))
    const { maxParts = defaultFormLimits.maxParts, maxPartBytes = defaultFormLimits.maxPartBytes } =
      options
    for (const [limit, value] of Object.entries({ maxParts, maxPartBytes })) {
      checkThat(value >= 1, 'a number from 1 up', limit, value)
    }
    this.#limits = { ...defaultFormLimits, maxParts, maxPartBytes }
    this.readsHeaders = joinHeaderNames(
      ...[...this.parts.values()].map((descriptor) => descriptor.readsHeaders),
    )
  }

  /**
   * Makes a descriptor from a sample of each part: strings are Text, NDArrays NumpyNdarray, files,
   * Blobs and bytes File, frames and series theirs, all else JSON. A part may also be a descriptor.
   *
   * @throws BadInput for a value that is no object; those of each part's `fromSample` with the
   * part's name in their path.
   */
  static async fromSample<S extends Readonly<Record<string, unknown>>>(
    samples: S,
    options: MultipartOptions = {},
  ): Promise<Multipart<{ [K in keyof S]: PartOfSample<S[K]> }>> {
    if (typeof samples !== 'object' || samples === null) {
      throw new BadInput(
        expected('an object of part names and samples', 'Multipart.fromSample', samples),
      )
    }
    const parts: Record<string, unknown> = {}
    for (const [name, sample] of Object.entries(samples)) {
      try {
        parts[name] = await partOfSample(sample)
      } catch (error) {
        throw inPart(name, error)
      }
    }
    return new Multipart(parts as { [K in keyof S]: PartOfSample<S[K]> }, options)
  }

  protected override formats(): Formats {
    const parts = [...this.rules].map(([name, { descriptor, occurrence }]) => {
      const { input, output, errors } = descriptor.describe()
      const reasons = errors.find(({ code }) => code === 'bad_input')?.reasons ?? []
      return { name, occurrence, input, output, reasons }
    })
    const form = (direction: 'input' | 'output') => ({
      mimeType: this.mimeType,
      fields: parts.map(({ name, occurrence, [direction]: formats }) => ({
        name,
        occurrence,
        // A file may come alone in a form; as a part it does not.
        formats: formats.filter(({ fields }) => fields === undefined),
      })),
    })
    const reasons = new Set(parts.flatMap((part) => part.reasons).concat('part'))
    return { input: [form('input')], output: [form('output')], reasons: [...reasons] }
  }

  fromHttpRequest(request: HttpRequest, ctx?: Context): MaybePromise<MultipartIn<P>> {
    return this.#reader(request.headers, ctx).readWhole(request)
  }

  override receive(headers: RequestHeaders, ctx: Context): BodyReceiver<MultipartIn<P>> {
    return this.#reader(headers, ctx)
  }

  override encodeExample(example: MultipartExample<P>): MaybePromise<HttpResponse> {
    return this.#write(example, (descriptor, part) => descriptor.encodeExample(part as never))
  }

  toHttpResponse(value: MultipartOut<P>, ctx?: Context): MaybePromise<HttpResponse> {
    return this.#write(value, (descriptor, part) => descriptor.toHttpResponse(part, ctx))
  }

  #write(
    value: MultipartOut<P> | MultipartExample<P>,
    encode: (descriptor: IODescriptor, part: unknown) => MaybePromise<HttpResponse>,
  ): MaybePromise<HttpResponse> {
    if (typeof value !== 'object' || value === null)
      throw new BadOutput(expected('an object of part values', 'Multipart', value))
    const written: MaybePromise<WrittenPart>[] = []
    try {
      for (const [name, descriptor, part] of partValues(this.rules, value)) {
        written.push(whenReady(encode(descriptor, part), (response) => writePart(name, response)))
      }
    } catch (error) {
      // The rejections of earlier parts must not end the process.
      for (const part of written) if (isPromise(part)) Promise.resolve(part).catch(() => {})
      throw error
    }
    return whenAllReady(written, respond)
  }

  override fromProto(
    message: MultipartMessage | Uint8Array,
    ctx?: Context,
  ): MaybePromise<MultipartIn<P>> {
    if (message instanceof Uint8Array) {
      return this.fromHttpRequest(new HttpRequest(formHeaders(message), message), ctx)
    }
    return messageCodec().then(({ fromParts }) =>
      fromParts<MultipartIn<P>>(this.rules, message, ctx),
    )
  }

  /** @returns a Multipart message, or a form's bytes if a name has several parts. */
  override async toProto(
    value: MultipartOut<P>,
    ctx?: Context,
  ): Promise<MultipartMessage | Uint8Array> {
    if (typeof value !== 'object' || value === null)
      throw new BadOutput(expected('an object', 'Multipart', value))
    const { toParts } = await messageCodec()
    const message = await toParts(this.rules, value, ctx)
    return message ?? collectBody((await this.toHttpResponse(value, ctx)).body)
  }

  #reader(headers: RequestHeaders, ctx: Context | undefined): FormReader<MultipartIn<P>> {
    const plan = planParts<MultipartIn<P>>(this.rules, 'a form')
    return new FormReader(formBoundary(headers, 'Multipart'), plan, ctx, this.#limits)
  }
}

/** Loads what reads and writes messages, when the first one comes. */
const messageCodec = () => import('./multipart-message.ts')

function respond(parts: readonly WrittenPart[]): HttpResponse {
  const { contentType, body } = writeForm(parts)
  return { headers: [['content-type', contentType]], body }
}

/** Converts a part's response to the part. Collects its bytes, unless it is a stream that states its length. */
function writePart(name: string, { headers, body }: HttpResponse): MaybePromise<WrittenPart> {
  const type = headerOf(headers, 'content-type') ?? 'application/octet-stream'
  if (!isHeaderValue(type))
    throw new BadOutput(
      expected('a media type', `content-type of part ${JSON.stringify(name)}`, type),
    )
  const disposition = headerOf(headers, 'content-disposition')
  const filename = whenDefined(disposition, parseContentDisposition)?.filename
  const part = { name, type, filename: filename || undefined }
  const whole = (bytes: Uint8Array) => ({ ...part, length: bytes.length, body: bytes })
  if (isChunk(body)) return whole(bytesOfChunk(body))
  const length = lengthOf(headers)
  if (isAsyncBody(body) && length !== undefined) return { ...part, length, body }
  return collectBody(body).then(whole)
}
