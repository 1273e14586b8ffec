/**
 * What the form of an API is made of.
 * @module
 */

/** A body, or a part of a form, as it is sent. */
export interface Content {
  /** Undefined for a form, whose parts are in `parts`. */
  readonly type: string | undefined
  /** Texts are sent as they are, so that offsets of errors count in them. */
  readonly data: string | Blob
  /** The name of a file. */
  readonly name?: string
  /** Of a form: its parts in order. */
  readonly parts?: readonly (readonly [name: string, content: Content])[]
}

/** An error and where in the input it is. */
export interface ErrorLocation {
  readonly message: string
  /** **Units**: bytes from the start of the body or the part. */
  readonly offset: number | undefined
  readonly path: string | undefined
}

/** An input for one descriptor. */
export interface Field {
  readonly element: HTMLElement
  /** Returns what is in the form. **Errors**: an Error that names what is missing. */
  read(): Content
  /** Marks the place of an error in the input. */
  mark(locations: readonly ErrorLocation[]): void
  /** Removes the marks. */
  clear(): void
}
