/** A path that the page lists, beside those of the OpenAPI document. */
export interface PageEntry {
  /** The heading above it. */
  readonly group: string
  /** As that of an endpoint; `*` at its end is for the reader to fill in. */
  readonly path: string
  readonly methods: readonly string[]
  /** Markdown. */
  readonly doc?: string
  /** A body to begin with. */
  readonly example?: { readonly type: string; readonly text: string }
}
