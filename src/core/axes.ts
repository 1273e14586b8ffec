/** Shapes as TypeScript sees them. @module */

declare const axisName: unique symbol

/** The length of an axis with a name, as in `['batch', 64]`: any number, but not that of another name. */
export type Axis<N extends string> = number & { readonly [axisName]?: N }

/** A shape to match: a length, -1 for any, or a name for any. */
export type ShapePattern = readonly (number | string)[]

type LengthOf<A> = A extends string
  ? string extends A
    ? number
    : Axis<A>
  : A extends -1
    ? number
    : A

/** The shapes that match a pattern. */
export type ShapeOf<P extends ShapePattern> = { readonly [K in keyof P]: LengthOf<P[K]> }
