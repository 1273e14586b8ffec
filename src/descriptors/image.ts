import {
  BadInput,
  BadOutput,
  badInput,
  expected,
  InternalError,
  InvalidArgument,
  Overloaded,
  ServingError,
  show,
  UnsupportedMediaType,
} from '../core/errors.ts'
import { type FileSample, type ReadySample, readSample } from '../core/file/file-sample.ts'
import { withCopy } from '../core/memory/byte-copy.ts'
import { checkAtLeast, checkOneOf, checkOptions, checkThat } from '../core/options.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { isUntypedPart, type MediaType, mediaTypeOf } from '../http/media-type.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { constantHeaders } from '../http/response-head.ts'
import type { FileMessage } from '../messages/messages.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { showShape } from '../values/array/shape.ts'
import { type EncodableMimeType, encodableModes } from '../values/image/encodable-modes.ts'
import {
  type ImageHeader,
  type ImageMimeType,
  imageTypeOf,
  isBigTiff,
  readImageHeader,
} from '../values/image/header.ts'
import { type DecodeJob, imageCodec } from '../values/image/image-codec.ts'
import { declaredImageType, parseImageTypes, sampleType } from '../values/image/image-types.ts'
import { fitsMode, RasterImage } from '../values/image/raster.ts'
import { pixelBytes, type RasterMode, rasterModes } from '../values/image/raster-modes.ts'
import { freeAtEnd } from '../values/image/request-pixels.ts'
import {
  maxResizedSide,
  type TensorArray,
  type TensorOptions,
  TensorPlan,
} from '../values/image/tensor.ts'
import type { Formats } from './description.ts'
import { IODescriptor } from './descriptor.ts'
import { fileExample, singleFileForm, singleFilePart } from './single-file-part.ts'

/**
 * Options of {@link Image}.
 *
 * @see SPEC "Image".
 */
export interface ImageOptions<
  T extends TensorOptions | undefined = undefined,
  M extends RasterMode | null = RasterMode | null,
> {
  /**
   * Colour mode that pictures are converted to, both ways; `null` keeps each picture's.
   *
   * @default `'RGB'`
   */
  readonly pilmode?: M
  /**
   * Type of the response: `image/` `jpeg`, `png`, `webp`, `bmp`, `tiff`, `gif` or `avif`. Default `image/jpeg`. Modes
   * that it cannot hold are written in the nearest one.
   */
  readonly mimeType?: string
  /** Formats that are read: those above without `image/avif`. Default all; an empty list reads nothing. */
  readonly allowedMimeTypes?: Iterable<string> | null
  /**
   * Maximum size of a picture. **Units**: pixels.
   *
   * @default 64 million
   */
  readonly maxPixels?: number
  /** Gives the function a resized, cropped and normalised tensor. For `pilmode` `RGB` and `L`. */
  readonly tensor?: T
}

/** The function's input: a raster, or the tensor of the options. */
export type ImageValue<T, M = null> = T extends TensorOptions ? TensorArray<T, M> : RasterImage

const optionNames = ['pilmode', 'mimeType', 'allowedMimeTypes', 'maxPixels', 'tensor'] as const
const defaultMaxPixels = 64_000_000
/** Type that `curl --data-binary` gives every body. */
const typeOfCurl = 'application/x-www-form-urlencoded'

/**
 * Decodes a picture to a {@link RasterImage} or a tensor; encodes a RasterImage or an array of
 * pixels.
 *
 * **Shape**: arrays are uint8 `[h, w]`, `[h, w, 1]`, `[h, w, 3]` or `[h, w, 4]`: grey, RGB and
 * RGBA, or `pilmode` if dtype and channels are those of that mode. A tensor is `[channels, h, w]`,
 * or `[h, w, channels]` with `layout: 'hwc'`, behind a 1 with `batch`. A RasterImage's pixels are
 * freed at the end of its request: await work on them, or `copy()` it. **Wire**: a body of
 * `image/*`, or the first file of an allowed type in a form. The bytes tell the format, so the body
 * may have no type, `application/octet-stream` or curl's `application/x-www-form-urlencoded`.
 * Palettes are kept if `pilmode` is `null` or `P`, except those of BMP. Only the first frame
 * is read; orientation is applied to TIFF alone, as by Pillow, and colour profiles are not.
 *
 * @throws 415 for a format that is not allowed; BadInput `size` above `maxPixels`, before decoding;
 * BadInput `encoding` for bytes that are no picture or damaged; 503 if the server has too little
 * memory for the pixels. The constructor throws MissingDependencyException without
 * `@napi-rs/image`. **Cost**: decodes, converts and encodes on other threads.
 * @example
 * `new io.Image({ pilmode: 'L', mimeType: 'image/png' })`
 * @see SPEC "Image".
 */
export class Image<
  const T extends TensorOptions | undefined = undefined,
  M extends RasterMode | null = RasterMode | null,
> extends IODescriptor<ImageValue<T, M>, RasterImage | NDArray> {
  readonly mimeType: EncodableMimeType
  override readonly readsHeaders: readonly string[] = []
  override readonly protoField = 'file'
  override readonly descriptorId: string = 'serving.io.Image'
  override readonly publicOptions: readonly string[] = optionNames
  readonly pilmode: RasterMode | null
  readonly allowedMimeTypes: readonly ImageMimeType[]
  readonly maxPixels: number
  readonly tensor: T | undefined
  readonly sample: Uint8Array | undefined
  readonly #codec = imageCodec()
  readonly #plan: TensorPlan | undefined
  readonly #headers: HttpResponse['headers']

  constructor(options: ImageOptions<T, M> = {}, sample?: Uint8Array) {
    super()
    checkOptions('Image', options, optionNames)
    const { pilmode = 'RGB', maxPixels = defaultMaxPixels }: ImageOptions<T> = options
    const given: unknown = options.mimeType ?? 'image/jpeg'
    const mimeType = typeof given === 'string' ? given.toLowerCase() : given
    if (pilmode !== null) checkOneOf('pilmode', pilmode, Object.keys(rasterModes) as RasterMode[])
    const { tensor } = options
    const hasTensor = pilmode === 'RGB' || pilmode === 'L'
    checkThat(
      tensor === undefined || hasTensor,
      'RGB or L',
      'pilmode of an Image with tensor',
      pilmode,
    )
    // Only if both are given: an input ignores the default mimeType.
    const isAnswer = sample === undefined && options.mimeType !== undefined
    if (isAnswer && mimeType === 'image/jpeg' && hasAlpha(pilmode)) {
      throw new InvalidArgument(
        `pilmode ${pilmode} for Image needs a mimeType that keeps alpha; image/jpeg does not`,
      )
    }
    this.pilmode = pilmode
    this.mimeType = checkOneOf(
      'mimeType',
      mimeType,
      Object.keys(encodableModes) as EncodableMimeType[],
    )
    this.maxPixels = checkAtLeast('maxPixels', maxPixels, 1)
    this.allowedMimeTypes = parseImageTypes(options.allowedMimeTypes)
    this.tensor = tensor
    this.#plan = tensor && new TensorPlan(tensor, pilmode === 'L' ? 1 : 3)
    this.sample = sample
    this.#headers = constantHeaders([
      ['content-type', this.mimeType],
      [
        'content-disposition',
        `attachment; filename="output.${this.mimeType.slice('image/'.length)}"`,
      ],
    ])
  }

  /**
   * Makes a descriptor from bytes, a path, a `file:` URL, a file-like object, a Blob or a stream.
   *
   * @default `mimeType`: that of the extension, else of the bytes
   * @throws BadInput for a sample that it cannot read or accept.
   */
  static fromSample<
    S extends FileSample,
    const T extends TensorOptions | undefined = undefined,
    M extends RasterMode | null = RasterMode | null,
  >(
    sample: S,
    options: ImageOptions<T, M> = {},
  ): S extends ReadySample ? Image<T, M> : Promise<Image<T, M>> {
    const made = whenReady(readSample(sample, 'Image.fromSample'), (content) => {
      const mimeType = options.mimeType ?? sampleType(content)
      const image = new Image<T, M>({ ...options, mimeType }, content.bytes)
      image.#admit(content.bytes)
      return image
    })
    return made as S extends ReadySample ? Image<T, M> : Promise<Image<T, M>>
  }

  override encodeExample(example: ReadySample): MaybePromise<HttpResponse> {
    return fileExample(example, 'Image', ({ bytes }) => imageTypeOf(bytes))
  }

  protected override formats(): Formats {
    const types = this.allowedMimeTypes.map((mimeType) => ({ mimeType }))
    return {
      input: [...types, singleFileForm(types)],
      output: [{ mimeType: this.mimeType }],
      reasons: ['encoding', 'size', 'part'],
    }
  }

  fromHttpRequest(request: HttpRequest, ctx?: Context): Promise<ImageValue<T, M>> {
    const contentType = request.headers.get('content-type')
    if (mediaTypeOf(contentType)?.essence === 'multipart/form-data') {
      const accepts = (type: MediaType) => this.#isAllowed(type)
      const part = singleFilePart(request, { accepts, types: this.#allowedNames(), owner: 'Image' })
      // The part's bytes are this request's own.
      return Promise.resolve(part).then((body) => this.#decode(body, this.#admit(body), ctx))
    }
    const isOfCurl = contentType === typeOfCurl && imageTypeOf(request.peek()) !== undefined
    if (!isOfCurl && !isUntypedPart(request.headers)) this.#checkDeclared(contentType)
    const header = this.#admit(request.peek())
    const { bytes, isPrivate } = request.lasting()
    if (isPrivate) return this.#decode(bytes, header, ctx)
    return withCopy(bytes, (copy) => this.#decode(copy, header, ctx))
  }

  /**
   * Decodes a part's or message's bytes as a body.
   *
   * @throws as for a body; throws those of the header at once.
   */
  fromBytes(bytes: Uint8Array, contentType?: string, ctx?: Context): Promise<ImageValue<T, M>> {
    this.#checkDeclared(contentType)
    const header = this.#admit(bytes)
    return withCopy(bytes, (copy) => this.#decode(copy, header, ctx))
  }

  /** Decodes a File message, or a picture's bytes; the message's kind counts as a Content-Type. */
  override fromProto(message: FileMessage | Uint8Array, ctx?: Context): Promise<ImageValue<T, M>> {
    if (message instanceof Uint8Array) return this.fromBytes(message, undefined, ctx)
    const { content = new Uint8Array(0), kind } = message
    return this.fromBytes(content, kind || undefined, ctx)
  }

  override async toProto(value: RasterImage | NDArray, ctx?: Context): Promise<FileMessage> {
    const { body } = await this.toHttpResponse(value, ctx)
    return { kind: this.mimeType, content: body as Uint8Array }
  }

  async toHttpResponse(value: RasterImage | NDArray, ctx?: Context): Promise<HttpResponse> {
    const { mimeType } = this
    const raster = value instanceof RasterImage ? value : this.#rasterOf(value)
    const mode = this.pilmode ?? raster.mode
    if (mimeType === 'image/jpeg' && hasAlpha(this.pilmode)) {
      throw new BadOutput(
        `pilmode ${mode} for Image needs a mimeType that keeps alpha; image/jpeg does not`,
      )
    }
    const signal = ctx?.signal
    try {
      const body = await this.#codec.encode(raster, mimeType, { mode }, signal)
      ctx?.trace?.source?.(value, body, mimeType)
      return { headers: this.#headers, body }
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof InternalError) throw cause
      const received = `${raster.mode} of ${raster.width}×${raster.height}`
      throw new BadOutput(
        `expected a picture that ${mimeType} can hold for Image, received ${received}`,
        { cause },
      )
    }
  }

  /** Decodes bytes that no other code can change or transfer before the promise settles. */
  async #decode(
    bytes: Uint8Array,
    header: ImageHeader,
    ctx: Context | undefined,
  ): Promise<ImageValue<T, M>> {
    const signal = ctx?.signal
    const convertedBytes =
      this.tensor !== undefined || this.pilmode === null ? 0 : pixelBytes(this.pilmode)
    const begin = (bytes: number) => {
      if (ctx?.reserve(bytes + header.width * header.height * convertedBytes) !== false) return
      throw new Overloaded('too little memory for another picture', { limit: 'memory' })
    }
    try {
      const value = await this.#read(bytes, header, { signal, begin })
      ctx?.trace?.source?.(value, bytes, header.mimeType)
      if (ctx !== undefined && value instanceof RasterImage) freeAtEnd(value, ctx)
      return value as ImageValue<T, M>
    } catch (cause) {
      signal?.throwIfAborted()
      // A bug or lack of memory, not the client's fault.
      if (
        ServingError.is(cause) ||
        [TypeError, ReferenceError, RangeError].some((kind) => cause instanceof kind)
      )
        throw cause
      const why = show(cause instanceof Error ? cause.message : cause)
      throw new BadInput(
        `expected a readable ${header.mimeType} picture for Image, the codec says ${why}`,
        {
          reason: 'encoding',
          cause,
        },
      )
    }
  }

  async #read(
    bytes: Uint8Array,
    header: ImageHeader,
    job: DecodeJob,
  ): Promise<NDArray | RasterImage> {
    if (this.#plan !== undefined) return this.#codec.decodeTensor(bytes, header, this.#plan, job)
    const modes = this.pilmode === null ? undefined : [this.pilmode]
    const pixels = await this.#codec.decode(bytes, header, { ...job, modes })
    const { mode, width, height, data, palette } = pixels
    return new RasterImage(mode, width, height, data, palette)
  }

  #checkDeclared(contentType: string | undefined): void {
    if (contentType === undefined) return
    const type = mediaTypeOf(contentType)
    if (type?.essence === 'application/octet-stream') return
    if (type === undefined || !this.#isAllowed(type)) throw this.#unsupported(contentType)
  }

  #isAllowed({ essence }: MediaType): boolean {
    const type = declaredImageType(essence)
    return type !== undefined && this.allowedMimeTypes.includes(type)
  }

  /**
   * @returns the picture's header.
   * @throws for a format that is not allowed, or too many pixels.
   */
  #admit(bytes: Uint8Array): ImageHeader {
    const type = imageTypeOf(bytes)
    if (type === undefined) {
      const received = isBigTiff(bytes) ? 'a BigTIFF' : 'other bytes'
      throw badInput(
        'encoding',
        `expected a picture (${this.#allowedNames()}) for Image, received ${received}`,
      )
    }
    if (!this.allowedMimeTypes.includes(type)) throw this.#unsupported(type)
    const header = readImageHeader(bytes)
    if (header === undefined) {
      throw badInput(
        'encoding',
        `expected a readable ${type} header for Image, received a damaged one`,
      )
    }
    const { width, height } = header
    if (width * height > this.maxPixels) {
      throw badInput(
        'size',
        `expected at most ${this.maxPixels} pixels for Image, received ${width}×${height}`,
      )
    }
    if (this.#plan !== undefined && Math.max(width, height) > maxResizedSide) {
      const limit = `sides of at most ${maxResizedSide} pixels`
      throw badInput('size', `expected ${limit} for Image, received ${width}×${height}`)
    }
    return header
  }

  #rasterOf(value: unknown): RasterImage {
    if (!(value instanceof NDArray))
      throw new BadOutput(expected('a RasterImage or an NDArray', 'Image', value))
    const { pilmode } = this
    const modes = [pilmode, 'L', 'RGB', 'RGBA'] as const
    const mode = modes.find((each) => each !== null && each !== '1' && fitsMode(value, each))
    if (!mode || value.size === 0) {
      const allowed = 'uint8 of shape (h, w), (h, w, 1), (h, w, 3) or (h, w, 4)'
      const received = `${value.dtype} of shape ${showShape(value.shape)}`
      throw new BadOutput(`expected ${allowed} for Image, received ${received}`)
    }
    return RasterImage.fromNDArray(value, mode)
  }

  #unsupported(received: string): UnsupportedMediaType {
    return new UnsupportedMediaType(
      expected(this.#allowedNames(), 'the type of a picture', received),
    )
  }

  #allowedNames(): string {
    if (this.allowedMimeTypes.length === 0) return 'no type at all'
    return this.allowedMimeTypes.join(', ')
  }
}

function hasAlpha(mode: RasterMode | null): boolean {
  return mode === 'RGBA' || mode === 'LA'
}
