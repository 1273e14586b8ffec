import type * as node from './frame-text.ts'

// Polars is native, so that no value here is of it.
export const isPolars: typeof node.isPolars = () => false
export const frameText: typeof node.frameText = () => undefined
