import { type BadInputReason, badInputReasons, type ErrorCode } from '../core/errors.ts'
import type { JsonSchema } from '../core/json-schema/shape.ts'
import { utf8Bytes } from '../core/platform.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { parseJson } from '../core/text/parse-json.ts'

export type { JsonSchema }

/** A part of a form. */
export interface FieldDescription {
  readonly name: string
  /** How often the part may come. */
  readonly occurrence: 'one' | 'optional' | 'many'
  readonly formats: readonly FormatDescription[]
}

/** A body in one media type. */
export interface FormatDescription {
  readonly mimeType: string
  /** Schema of a JSON body, or of a text as a JSON string. Undefined for bytes and for forms. */
  readonly schema?: JsonSchema
  /** A body that fits, as a JSON value; a text as a string. Undefined for bytes, or if unknown. */
  readonly example?: unknown
  readonly fields?: readonly FieldDescription[]
}

/** An error that a descriptor answers requests with. */
export interface ErrorDescription {
  readonly code: ErrorCode
  readonly reasons: readonly BadInputReason[]
}

/** The formats of a descriptor, as {@link IODescriptor.describe} returns them. */
export interface Description {
  readonly input: readonly FormatDescription[]
  readonly output: readonly FormatDescription[]
  readonly stream: readonly FormatDescription[]
  readonly errors: readonly ErrorDescription[]
  /** Whether answers to GET tell their state, so that clients may ask for parts of it. */
  readonly hasRevisions?: boolean | undefined
}

/** What a class of descriptors says of itself. */
export interface Formats extends Pick<Description, 'input' | 'output' | 'hasRevisions'> {
  /**
   * Of responses to generators.
   *
   * @default as `output`
   */
  readonly stream?: readonly FormatDescription[]
  /** @default any */
  readonly reasons?: readonly BadInputReason[]
}

/** @returns the description of a descriptor with these formats. */
export function descriptionOf({
  input,
  output,
  stream = output,
  reasons = badInputReasons,
  hasRevisions,
}: Formats): Description {
  const own = reasons.filter((reason) => reason !== 'media-type')
  return {
    input,
    output,
    stream,
    hasRevisions,
    errors: [
      { code: 'bad_input', reasons: own },
      { code: 'unsupported_media_type', reasons: ['media-type'] },
      { code: 'payload_too_large', reasons: ['size'] },
    ],
  }
}

/** @returns the JSON text as the example of a format; no member if JSON cannot hold its numbers. */
export function exampleIn(text: string | Uint8Array = ''): { readonly example?: unknown } {
  const json = typeof text === 'string' ? utf8Bytes(text) : text
  try {
    return { example: parseJson(json, 'example', { bigNumbers: 'error' }) }
  } catch {
    return {}
  }
}

/**
 * @returns what `make` returns at once; undefined if it fails or waits: an example must not fail a
 * document.
 */
export function attempt<T>(make: () => MaybePromise<T>): T | undefined {
  try {
    const made = make()
    if (!isPromise(made)) return made
    // A rejection that nobody handles would end the process.
    Promise.resolve(made).catch(() => {})
  } catch {}
  return undefined
}
