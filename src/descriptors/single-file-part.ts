import { BadInput, expected, UnsupportedMediaType } from '../core/errors.ts'
import { type ReadySample, readSample, type SampleContent } from '../core/file/file-sample.ts'
import { type MaybePromise, whenReady } from '../core/promise.ts'
import { encodeContentDisposition } from '../http/content-disposition.ts'
import { formBoundary } from '../http/form/form-parser.ts'
import type { FormPart } from '../http/form/form-part.ts'
import { type MediaType, mediaTypeOf, typeOfFilename } from '../http/media-type.ts'
import type { HeaderLine, HttpRequest, HttpResponse, RequestHeaders } from '../http/message.ts'
import type { FormatDescription } from './description.ts'
import { type FormPlan, FormReader, type PartDescriptor } from './form-reader.ts'

const anyType = 'application/octet-stream'

/** A file from a form, in memory. */
export interface FilePart {
  /** Of the part, not of the request. */
  readonly headers: RequestHeaders
  /** The caller may keep it. */
  readonly body: Uint8Array
  readonly name: string
  /** Empty if the user chose no file. */
  readonly filename: string
}

/** Whether files of a type are accepted. */
export type AcceptsType = (type: MediaType) => boolean

/** Which file of a form to read, and how. */
export interface FileSelection<T> {
  readonly accepts: AcceptsType
  /** The accepted types, for errors: `application/pdf`. */
  readonly types: string
  /** The descriptor's name, for errors. */
  readonly owner: string
  readonly descriptor: (part: FormPart) => PartDescriptor<T>
}

/** Takes the first file of an accepted type. **Errors**: BadInput `part` without a file; UnsupportedMediaType. */
export function planSingleFile<T>({ accepts, types, owner, descriptor }: FileSelection<T>): FormPlan<T> {
  let taken = false
  let value: T | undefined
  let refusedType: string | undefined
  return {
    plan(part) {
      if (part.filename === undefined || taken) return undefined
      if (!isAccepted(part, accepts)) {
        refusedType ??= part.headers.get('content-type') ?? ''
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
      throw new BadInput(`expected a part with a filename for ${owner}, received a form without one`, {
        reason: 'part',
      })
    },
  }
}

/** Describes a form with one file. Any field name is read; this one is the specification's ("API endpoint"). */
export function singleFileForm(formats: readonly FormatDescription[]): FormatDescription {
  return { mimeType: 'multipart/form-data', fields: [{ name: 'fileobj', occurrence: 'one', formats }] }
}

/** Checks the Content-Type, else the type of the name; true if neither tells a type. */
function isAccepted({ headers, filename }: FormPart, accepts: AcceptsType): boolean {
  const value = headers.get('content-type')
  const type = value === undefined ? undefined : mediaTypeOf(value)
  if (type !== undefined && accepts(type)) return true
  const byName = typeOfFilename(filename)
  if (byName !== undefined && byName.essence !== anyType) return accepts(byName)
  return type === undefined || type.essence === anyType
}

/** Returns the file of a complete form. **Errors**: UnsupportedMediaType for no form; see {@link planSingleFile}. */
export function singleFilePart(
  request: HttpRequest,
  accepts: AcceptsType,
  types: string,
  owner: string,
): MaybePromise<FilePart> {
  const plan = planSingleFile<FilePart>({
    accepts,
    types,
    owner,
    descriptor: ({ headers, name, filename = '' }) => ({
      fromHttpRequest: (part) => ({ headers, body: part.body, name, filename }),
    }),
  })
  return new FormReader(formBoundary(request.headers, owner), plan).readWhole(request)
}

/** Returns the request body of a file, for `encodeExample`; `typeOf` finds its media type. **Errors**: BadInput. */
export function fileExample(
  sample: ReadySample,
  owner: string,
  typeOf: (content: SampleContent) => string | undefined,
): MaybePromise<HttpResponse> {
  return whenReady(readSample(sample, owner), (content) => {
    const { bytes: body, name } = content
    const headers: HeaderLine[] = [['content-type', typeOf(content) ?? anyType]]
    if (name !== undefined) headers.push(['content-disposition', encodeContentDisposition('attachment', name)])
    return { headers, body }
  })
}
