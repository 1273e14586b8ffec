/** What the form of an API is made of. @module */

/** A body, or a part of a form, as it is sent. */
export interface Content {
  readonly type: string | undefined
  /** Texts are sent as they are, so that offsets of errors count in them. */
  readonly data: string | Blob
  readonly name?: string
  readonly parts?: readonly (readonly [name: string, content: Content])[]
}

/** An error and where in the input it is. */
export interface ErrorLocation {
  readonly message: string
  readonly offset: number | undefined
  readonly path: string | undefined
}

/** An input for one descriptor. */
export interface Field {
  readonly element: HTMLElement
  /** Returns what is in the form. **Errors**: an Error that names what is missing. */
  read(): Content
  mark(locations: readonly ErrorLocation[]): void
  clear(): void
}
