import { badInput, expected, UnsupportedMediaType } from '../core/errors.ts'
import { type ReadySample, readSample, type SampleContent } from '../core/file/file-sample.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import { encodeContentDisposition } from '../http/content-disposition.ts'
import { formBoundary } from '../http/form/form-parser.ts'
import type { FormPart } from '../http/form/form-part.ts'
import { type MediaType, mediaTypeOf, typeOfFilename } from '../http/media-type.ts'
import type { HeaderLine, HttpRequest, HttpResponse } from '../http/message.ts'
import type { FormatDescription } from './description.ts'
import { type FormPlan, FormReader, type PartDescriptor } from './form-reader.ts'

const anyType = 'application/octet-stream'

/** Which file of a form to read, and how. */
export interface FileSelection<T> {
  readonly accepts: (type: MediaType) => boolean
  /** The accepted types, for errors: `application/pdf`. */
  readonly types: string
  readonly owner: string
  readonly descriptor: (part: FormPart) => PartDescriptor<T>
}

/**
 * Takes the first file of an accepted type.
 *
 * @throws BadInput `part` without a file; UnsupportedMediaType.
 */
export function planSingleFile<T>({
  accepts,
  types,
  owner,
  descriptor,
}: FileSelection<T>): FormPlan<T> {
  let taken = false
  let value: T | undefined
  let refusedType: string | undefined
  return {
    plan(part) {
      if (part.filename === undefined || taken) return undefined
      if (!isAccepted(part, accepts)) {
        refusedType ??= part.get('content-type') ?? ''
        return undefined
      }
      taken = true
      const store = (read: unknown) => {
        value = read as T
      }
      return { descriptor: descriptor(part), path: '', store }
    },
    finish() {
      if (taken) return value as T
      if (refusedType !== undefined) {
        throw new UnsupportedMediaType(expected(`a file of type ${types}`, owner, refusedType))
      }
      throw badInput(
        'part',
        `expected a part with a filename for ${owner}, received a form without one`,
      )
    },
  }
}

/** Describes a form with one file. Any field name is read; this one is the specification's ("API endpoint"). */
export function singleFileForm(formats: readonly FormatDescription[]): FormatDescription {
  return {
    mimeType: 'multipart/form-data',
    fields: [{ name: 'fileobj', occurrence: 'one', formats }],
  }
}

/** Checks the Content-Type, else the type of the name; true if neither tells a type. */
function isAccepted(part: FormPart, accepts: FileSelection<unknown>['accepts']): boolean {
  const type = mediaTypeOf(part.get('content-type'))
  if (type !== undefined && accepts(type)) return true
  const byName = typeOfFilename(part.filename)
  if (byName !== undefined && byName.essence !== anyType) return accepts(byName)
  return type === undefined || type.essence === anyType
}

/**
 * @returns the bytes of the file of a form.
 * @throws UnsupportedMediaType for no form; {@link planSingleFile}.
 */
export function singleFilePart(
  request: HttpRequest,
  selection: Omit<FileSelection<Uint8Array>, 'descriptor'>,
): MaybePromise<Uint8Array> {
  const descriptor = () => ({ fromHttpRequest: (part: HttpRequest) => part.body })
  const plan = planSingleFile<Uint8Array>({ ...selection, descriptor })
  return new FormReader(formBoundary(request.headers, selection.owner), plan).readWhole(request)
}

/**
 * @returns the request body of a file, for `encodeExample`; `typeOf` finds its media type.
 * @throws BadInput.
 */
export function fileExample(
  sample: ReadySample,
  owner: string,
  typeOf: (content: SampleContent) => string | undefined,
): MaybePromise<HttpResponse> {
  return whenReady(readSample(sample, owner), (content) => {
    const { bytes: body, name } = content
    const headers: HeaderLine[] = [['content-type', typeOf(content) ?? anyType]]
    if (name !== undefined)
      headers.push(['content-disposition', encodeContentDisposition('attachment', name)])
    return { headers, body }
  })
}
