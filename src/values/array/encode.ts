/** Compact JSON text of arrays, in TypeScript: for small arrays, strings, and if the add-on is not loaded. @module */
import { type DType, elementTypes, isFloat } from '../../core/dtype.ts'
import { float16ToNumber, floatText } from '../../core/text/number-text.ts'
import type { NDArray } from './ndarray.ts'
import type { NonFinite } from './number-codec.ts'

/**
 * Prints compact JSON: floats as the shortest text at their own width, `.0` on integral ones; `[2,0]` is `[[],[]]`,
 * `[0,3]` is `[]`. **Errors**: undefined for a non-finite element under `'error'`.
 */
export function encodeNdarray({ shape, data, dtype }: NDArray, nonFinite: NonFinite): string | undefined {
  const empty = shape.indexOf(0)
  if (empty !== -1) return encodeEmpty(shape.slice(0, empty))
  const depth = shape.length
  const last = depth === 0 ? 1 : shape[depth - 1]
  const print = printerOf(dtype, nonFinite)
  let text = '['.repeat(depth)
  let column = 0
  for (let i = 0; i < data.length; i++) {
    if (column === last) {
      text += rowBreak(shape, i)
      column = 0
    } else if (i > 0) text += ','
    const element = print(data[i] as number)
    if (element === undefined) return undefined
    text += element
    column++
  }
  return text + ']'.repeat(depth)
}

type Printer = (element: number) => string | undefined

function printerOf(dtype: DType, nonFinite: NonFinite): Printer {
  if (dtype === 'str') return JSON.stringify
  if (dtype === 'bool') return (element) => (element ? 'true' : 'false')
  if (!isFloat(dtype)) return String
  const width = elementTypes[dtype].bytes
  return (element) => {
    const value = width === 2 ? float16ToNumber(element) : element
    if (Number.isFinite(value)) return floatText(value, width)
    if (nonFinite === 'error') return undefined
    return nonFinite === 'null' ? 'null' : String(value)
  }
}

/** Returns the text between two rows of the last dimension: as many levels close and open as are filled. */
function rowBreak(shape: readonly number[], index: number): string {
  if (shape.length === 2) return '],['
  let levels = 0
  let size = 1
  for (let level = shape.length - 1; level > 0; level--) {
    size *= shape[level]
    if (index % size !== 0) break
    levels++
  }
  return `${']'.repeat(levels)},${'['.repeat(levels)}`
}

function encodeEmpty(shape: readonly number[]): string {
  let text = '[]'
  for (let level = shape.length - 1; level >= 0; level--) text = `[${`${text},`.repeat(shape[level]).slice(0, -1)}]`
  return text
}
