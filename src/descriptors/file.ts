import { BadOutput, expected, ValueError } from '../core/errors.ts'
import { BinaryFile, type BinaryFileOptions } from '../core/file/binary-file.ts'
import { extensionType } from '../core/file/extension-type.ts'
import { type FileSample, type ReadySample, readSample } from '../core/file/file-sample.ts'
import { detectMimeType } from '../core/file/file-type.ts'
import { bufferPool, PooledBody } from '../core/memory/buffer-pool.ts'
import { checkThat } from '../core/options.ts'
import type { MaybePromise } from '../core/promise.ts'
import { encodeContentDisposition } from '../http/content-disposition.ts'
import type { Context } from '../http/context.ts'
import { formBoundary } from '../http/form/form-parser.ts'
import { filenameOf } from '../http/form/form-part.ts'
import { fileMediaType, mediaTypeOf, requireMediaType } from '../http/media-type.ts'
import {
  collectBody,
  type HeaderLine,
  HeaderList,
  type HttpRequest,
  type HttpResponse,
  type RequestHeaders,
  type Revision,
} from '../http/message.ts'
import { constantHeaders, nosniff } from '../http/response-head.ts'
import type { FileMessage } from '../messages/messages.ts'
import type { Formats } from './description.ts'
import { type BodyReceiver, IODescriptor } from './descriptor.ts'
import { FormReader } from './form-reader.ts'
import { fileExample, planSingleFile, singleFileForm } from './single-file-part.ts'
import { defaultSpoolAboveBytes, Spooler } from './spooler.ts'

/**
 * Options of {@link File}; unknown ones are ignored.
 *
 * @see SPEC "File".
 */
export interface FileOptions {
  /** The only kind. */
  readonly kind?: 'binaryio'
  /** Media type of responses, and the one that requests must have. */
  readonly mimeType?: string | null
  /**
   * Larger uploads are stored on disk. **Units**: bytes.
   *
   * @default 4 MiB; 16 MiB for an announced length while three quarters of `maxMemoryBytes` are
   * free
   */
  readonly spoolAboveBytes?: number
  readonly [extra: string]: unknown
}

const anyType = 'application/octet-stream'
const ofBytes: Revision = {}
// Types of documents whose scripts browsers run.
const holdsScripts = /^[^;]*(?:html|xml|xsl)/i

/**
 * Reads a body, or the file in a form whatever its field is called, as a {@link BinaryFile}; writes
 * a BinaryFile or bytes.
 *
 * **Wire**: if `mimeType` is set, requests must have it; in a form the first file of that type is
 * used. Responses have `mimeType`, else the file's own type, else `application/octet-stream`; a
 * file name is sent as `content-disposition: attachment`. Without `mimeType`, HTML, SVG and XML are
 * always attachments: a browser would run their scripts as the service's.
 *
 * @throws 415 for another type; BadInput `part` for a form that is malformed or has no file.
 * **Cost**: large bodies are streamed, see `spoolAboveBytes`; `maxBodyBytes` and `requestTimeoutMs`
 * limit uploads.
 * @example
 * `new io.File({ mimeType: 'application/pdf' })`
 * @see SPEC "File".
 */
export class File extends IODescriptor<BinaryFile, BinaryFile | Uint8Array> {
  readonly mimeType: string
  override readonly readsHeaders: readonly string[] = ['content-disposition']
  override readonly protoField = 'file'
  override readonly descriptorId: string = 'serving.io.File'
  override readonly publicOptions: readonly string[] = ['spoolAboveBytes']
  readonly kind = 'binaryio'
  readonly spoolAboveBytes: number
  readonly sample: BinaryFile | undefined
  // In lower case; undefined if any type is accepted.
  readonly #essence: string | undefined
  readonly #spoolAboveBytes: number | undefined
  readonly #headers: readonly HeaderLine[]

  /** @throws ValueError for another kind, InvalidArgument for an invalid media type or size. */
  constructor(options: FileOptions = {}, sample?: BinaryFile) {
    super()
    const { kind = 'binaryio', spoolAboveBytes = defaultSpoolAboveBytes } = options
    const mimeType = options.mimeType ?? undefined
    if (kind !== 'binaryio') throw new ValueError(expected("'binaryio'", 'kind', kind))
    const type = mediaTypeOf(String(mimeType))
    checkThat(mimeType === undefined || type !== undefined, 'a media type', 'mimeType', mimeType)
    checkThat(spoolAboveBytes >= 0, 'bytes from 0 up', 'spoolAboveBytes', spoolAboveBytes)
    this.#essence = type?.essence
    this.mimeType = mimeType ?? anyType
    this.#headers = constantHeaders([['content-type', this.mimeType], nosniff])
    this.spoolAboveBytes = spoolAboveBytes
    this.#spoolAboveBytes = options.spoolAboveBytes
    this.sample = sample
  }

  /**
   * Makes a descriptor from a file, bytes, a path, a `file:` URL or a stream. Its type is that of
   * `options`, of the sample, of the bytes, or of the name's extension.
   *
   * @throws MissingDependencyException without file-type; ValueError if no type can be determined;
   * BadInput for a file that cannot be read.
   */
  static async fromSample(sample: FileSample, options: FileOptions = {}): Promise<File> {
    const { bytes, name, mimeType: own } = await readSample(sample, 'File.fromSample')
    const mimeType = options.mimeType ?? own ?? (await inferType(bytes, name))
    return new File({ ...options, mimeType }, new BinaryFile(bytes, { name, mimeType }))
  }

  /** The type of all files, if the options have one. */
  get #fixedType(): string | undefined {
    return this.#essence && this.mimeType
  }

  override encodeExample(example: ReadySample): MaybePromise<HttpResponse> {
    return fileExample(
      example,
      'File',
      ({ mimeType, name = '' }) => this.#fixedType ?? mimeType ?? extensionType(name),
    )
  }

  protected override formats(): Formats {
    const raw = { mimeType: this.#essence ?? anyType }
    // A file that is itself a form is not unpacked.
    const form = raw.mimeType === 'multipart/form-data' ? [] : [singleFileForm([raw])]
    return { input: [raw, ...form], output: [raw], reasons: ['part'], hasRevisions: true }
  }

  fromHttpRequest(request: HttpRequest, ctx?: Context): MaybePromise<BinaryFile> {
    const options = this.#describe(request.headers)
    if (options === undefined) return this.#formReader(request.headers, ctx).readWhole(request)
    return new BinaryFile(request.body, options)
  }

  override receive(
    headers: RequestHeaders,
    ctx: Context,
    declared?: number,
  ): BodyReceiver<BinaryFile> {
    const options = this.#describe(headers)
    if (options === undefined) return this.#formReader(headers, ctx)
    return new Spooler(options, this.#spoolAboveBytes, ctx, declared)
  }

  toHttpResponse(value: BinaryFile | Uint8Array): HttpResponse {
    if (value instanceof Uint8Array)
      return { headers: this.#headers, body: value, revision: ofBytes }
    if (!(value instanceof BinaryFile))
      throw new BadOutput(expected('a BinaryFile or a Uint8Array', 'File', value))
    const type = this.#fixedType ?? value.mimeType
    const more: HeaderLine[] = []
    if (value.name !== undefined)
      more.push(['content-disposition', encodeContentDisposition('attachment', value.name)])
    else if (type !== this.mimeType && holdsScripts.test(type))
      more.push(['content-disposition', 'attachment'])
    if (value.isSpooled) more.push(['content-length', String(value.size)])
    const isPlain = type === this.mimeType && more.length === 0
    const headers = isPlain ? this.#headers : [['content-type', type] as const, nosniff, ...more]
    const { isSpooled, state = ofBytes } = value
    if (!isSpooled) return { headers, body: value.bytes, revision: state }
    const allocate = (size: number) => new Uint8Array(bufferPool.take(size), 0, size)
    const slice = (start: number, end: number) => value.stream(allocate, start, end)
    const body = slice(0, value.size)
    return { headers, body, pooled: new PooledBody(), revision: { ...state, slice } }
  }

  /** Reads a File message or bytes. The message's kind counts as a Content-Type. */
  override fromProto(message: FileMessage | Uint8Array): BinaryFile {
    if (message instanceof Uint8Array) return new BinaryFile(message, { mimeType: this.mimeType })
    const { kind, content = new Uint8Array(0), name } = message
    this.#requireType(HeaderList.from(kind ? { 'content-type': kind } : {}))
    const isType = mediaTypeOf(kind) !== undefined
    const mimeType = isType ? kind : this.mimeType
    return new BinaryFile(content, { name: name || undefined, mimeType })
  }

  override async toProto(value: BinaryFile | Uint8Array): Promise<FileMessage> {
    const { headers, body, pooled } = this.toHttpResponse(value)
    const name = value instanceof BinaryFile ? value.name : undefined
    const content = await collectBody(body, pooled)
    return { kind: headers[0][1], content, name }
  }

  /**
   * @returns name and type of a body; undefined for a form.
   * @throws UnsupportedMediaType.
   */
  #describe(headers: RequestHeaders): BinaryFileOptions | undefined {
    const type = mediaTypeOf(headers.get('content-type'))
    if (type?.essence === 'multipart/form-data' && this.#essence !== type.essence) return undefined
    const name = filenameOf(headers) || undefined
    return { name, mimeType: this.#typeOf(headers, name) }
  }

  /** @throws UnsupportedMediaType for another type than that of all files. */
  #requireType(headers: RequestHeaders): void {
    const required = this.#essence
    if (required !== undefined)
      requireMediaType(headers, ({ essence }) => essence === required, required, 'File')
  }

  #typeOf(headers: RequestHeaders, name: string | undefined): string {
    this.#requireType(headers)
    const type = fileMediaType(headers.get('content-type'), name) ?? this.mimeType
    const isOther = this.#essence !== undefined && mediaTypeOf(type)?.essence !== this.#essence
    return isOther ? this.mimeType : type
  }

  #formReader(headers: RequestHeaders, ctx: Context | undefined): FormReader<BinaryFile> {
    const required = this.#essence
    const plan = planSingleFile<BinaryFile>({
      accepts: (type) => required === undefined || type.essence === required,
      types: required ?? 'any kind',
      owner: 'File',
      descriptor: (file) => {
        const name = file.filename || undefined
        const options = { name, mimeType: this.#typeOf(file, name) }
        return {
          fromHttpRequest: (part) => new BinaryFile(part.body, options),
          receive: (_, ctx) => new Spooler(options, this.#spoolAboveBytes, ctx),
        }
      },
    })
    return new FormReader(formBoundary(headers, 'File'), plan, ctx)
  }
}

async function inferType(bytes: Uint8Array, name: string | undefined): Promise<string> {
  const type = (await detectMimeType(bytes, 'File.fromSample')) ?? extensionType(name ?? '')
  if (type !== undefined) return type
  throw new ValueError(
    `cannot tell the media type of ${JSON.stringify(name ?? 'the bytes')} for File.fromSample; give mimeType`,
  )
}
