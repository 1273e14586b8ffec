/** Shapes: dimensions in C order, with `-1` as a wildcard in a pattern. @module */
import { expected, InvalidArgument, show } from '../../core/errors.ts'

/** Maximum of dimensions of an array: numpy's own limit. */
export const maxDimensions = 64

/** @returns the number of elements of a shape; 1 for a scalar's empty shape. */
export function sizeOf(shape: readonly number[]): number {
  let size = 1
  for (const dim of shape) size *= dim
  return size
}

/** @returns a shape as messages write it, as Python does: `(2, 3)`, `(4,)`, `()`. */
export function showShape(shape: readonly number[]): string {
  if (shape.length > 8) return show(`(${shape.slice(0, 8).join(', ')}, …)`).slice(1, -1)
  if (shape.length === 1) return `(${shape[0]},)`
  return `(${shape.join(', ')})`
}

/**
 * Parses a shape pattern.
 *
 * @throws InvalidArgument unless at most 64 whole numbers from -1 up, or names, which are as -1.
 */
export function parseShapePattern(value: unknown): readonly number[] {
  const fault = () =>
    new InvalidArgument(expected('a list of whole numbers, -1 for any', 'shape', value))
  if (!Array.isArray(value)) throw fault()
  const dims = value.map((dim) => (typeof dim === 'string' ? -1 : dim))
  const fits =
    dims.length <= maxDimensions &&
    dims.every((dim) => Number.isSafeInteger(dim) && dim >= -1) &&
    Number.isSafeInteger(sizeOf(filled(dims, 1)))
  if (!fits) throw fault()
  return Object.freeze(dims)
}

/** @returns a pattern with a length in place of each `-1`. */
export function filled(pattern: readonly number[], length: number): readonly number[] {
  return pattern.map((dim) => (dim === -1 ? length : dim))
}

/** Whether a shape fits a pattern: same rank, every dimension equal or `-1` in the pattern. */
export function matchesShape(shape: readonly number[], pattern: readonly number[]): boolean {
  if (shape.length !== pattern.length) return false
  for (let i = 0; i < shape.length; i++)
    if (pattern[i] !== -1 && pattern[i] !== shape[i]) return false
  return true
}

/**
 * @returns the shape of `size` elements under a pattern: one `-1` is filled in; several take `own`
 * dimensions.
 */
export function reshapeTo(
  own: readonly number[],
  pattern: readonly number[],
): readonly number[] | undefined {
  if (matchesShape(own, pattern)) return own
  const size = sizeOf(own)
  const wild = pattern.indexOf(-1)
  if (wild === -1) return sizeOf(pattern) === size ? pattern : undefined
  if (pattern.indexOf(-1, wild + 1) !== -1) return undefined
  const rest = sizeOf(filled(pattern, 1))
  if (rest === 0 || size % rest !== 0) return undefined
  return filled(pattern, size / rest)
}
