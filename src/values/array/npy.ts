/** Arrays ⇄ files of numpy's own format (.npy). **Source**: numpy.lib.format, versions 1.0 to 3.0. @module */

import { type DataOf, type DType, itemSize, npyName, parseDType } from '../../core/dtype.ts'
import { type BadInput, badInput } from '../../core/errors.ts'
import { NDArray } from './ndarray.ts'
import { bytesOf, checkSize, checkTexts, viewElements } from './ndarray-flatbuffer.ts'
import { maxDimensions } from './shape.ts'

const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] // \x93NUMPY
const maxHeaderBytes = 10_000

/** Whether bytes say that they are such a file. */
export function isNpy(bytes: Uint8Array): boolean {
  return bytes.length >= 10 && magic.every((byte, i) => bytes[i] === byte)
}

/** Writes an array as an .npy file of version 1.0, in C order. **Cost**: one copy of the data. */
export function encodeNpy(
  { dtype, shape, data }: NDArray,
  allocate: (size: number) => Buffer = Buffer.allocUnsafeSlow,
): Uint8Array {
  const isText = dtype === 'str'
  const wide = isText ? joinWide(data as string[]) : undefined
  const elements = wide?.bytes ?? bytesOf(data as Float64Array)
  const descr = isText ? `<U${wide?.width}` : npyName(dtype)
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`
  const dict = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`
  const dataAt = Math.ceil((10 + dict.length + 1) / 64) * 64
  const bytes = allocate(dataAt + elements.length)
  bytes.set([...magic, 1, 0])
  bytes.writeUInt16LE(dataAt - 10, 8)
  bytes.write(`${dict.padEnd(dataAt - 11)}\n`, 10, 'latin1')
  bytes.set(elements, dataAt)
  return bytes
}

/** Reads an .npy file: a view of `bytes`, else a copy. **Errors**: BadInput `encoding`, `dtype`, `shape`. */
export function parseNpy(bytes: Uint8Array, name: string): NDArray {
  const { descr, fortran, shape, dataAt } = parseHeader(bytes, name)
  const [, order, code] = /^([<>|=]?)(.*)$/s.exec(descr) as RegExpExecArray
  const elements = bytes.subarray(dataAt)
  const text = /^U(\d{1,9})$/.exec(code)
  if (text !== null) {
    const data = splitWide(elements, Number(text[1]), order === '>', shape, name)
    return new NDArray(fortran ? toCOrder(data, shape) : data, shape, 'str')
  }
  const dtype = dtypeOf(code, name)
  const count = elements.length / itemSize(dtype)
  checkSize(shape, count, name)
  const little = order === '>' ? swapped(elements, itemSize(dtype)) : elements
  const data = viewElements(little, dtype, name)
  return new NDArray(fortran && shape.length > 1 ? toCOrder(data, shape) : data, shape, dtype)
}

interface NpyHeader {
  readonly descr: string
  readonly fortran: boolean
  readonly shape: readonly number[]
  readonly dataAt: number
}

function parseHeader(bytes: Uint8Array, name: string): NpyHeader {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const major = isNpy(bytes) ? bytes[6] : 0
  const lengthBytes = major === 1 ? 2 : 4
  if (major < 1 || major > 3 || bytes.length < 8 + lengthBytes) throw notNpy(name)
  const length = view.readUIntLE(8, lengthBytes)
  const start = 8 + lengthBytes
  if (length > maxHeaderBytes || length > bytes.length - start) throw notNpy(name)
  const header = view.toString('latin1', start, start + length)
  const descr = /'descr'\s*:\s*'([^'\\]{1,20})'/.exec(header)?.[1]
  const fortran = /'fortran_order'\s*:\s*(True|False)/.exec(header)?.[1]
  const tuple = /'shape'\s*:\s*\(([\d\s,L]*)\)/.exec(header)?.[1]
  if (descr === undefined || fortran === undefined || tuple === undefined) throw notNpy(name)
  const shape = (tuple.match(/\d+/g) ?? []).map(Number)
  if (shape.length > maxDimensions || !shape.every(Number.isSafeInteger)) throw notNpy(name)
  return { descr, fortran: fortran === 'True', shape, dataAt: start + length }
}

function notNpy(name: string): BadInput {
  return badInput('encoding', `expected an .npy file for ${name}, received other bytes or another version`)
}

function dtypeOf(code: string, name: string): Exclude<DType, 'str'> {
  try {
    const dtype = parseDType(code)
    if (/^[bifu]\d$/.test(code) && dtype !== 'str') return dtype
  } catch {
    // Told below.
  }
  throw badInput('dtype', `expected numbers, booleans or texts for ${name}, received dtype ${JSON.stringify(code)}`)
}

/** Returns the bytes of elements in the other order. */
function swapped(bytes: Uint8Array, size: number): Uint8Array {
  if (size === 1 || bytes.length % size !== 0) return bytes
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return size === 2 ? copy.swap16() : size === 4 ? copy.swap32() : copy.swap64()
}

/** Returns elements in C order of those in Fortran order (the first dimension varies fastest). */
function toCOrder<T extends DataOf<DType>>(data: T, shape: readonly number[]): T {
  const out = data.slice() as T
  const strides = shape.map((_, i) => shape.slice(0, i).reduce((product, dim) => product * dim, 1))
  const index = new Array<number>(shape.length).fill(0)
  let from = 0
  for (let i = 0; i < out.length; i++) {
    out[i] = data[from]
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis]
      if (++index[axis] < shape[axis]) break
      from -= strides[axis] * shape[axis]
      index[axis] = 0
    }
  }
  return out
}

/** Returns texts as numpy has them: of one width, four bytes a character, zeros behind. */
function joinWide(texts: readonly string[]): { bytes: Uint8Array; width: number } {
  // numpy makes no texts of width 0.
  let width = 1
  for (const text of texts) {
    let points = 0
    for (const _ of text) points++
    if (points > width) width = points
  }
  const bytes = Buffer.alloc(texts.length * width * 4)
  for (let i = 0; i < texts.length; i++) {
    let at = i * width * 4
    for (const character of texts[i]) at = bytes.writeUInt32LE(character.codePointAt(0) as number, at)
  }
  return { bytes, width }
}

function splitWide(bytes: Uint8Array, width: number, isBig: boolean, shape: readonly number[], name: string): string[] {
  const count = width === 0 ? 0 : bytes.length / (width * 4)
  checkSize(shape, count, name)
  checkTexts(count, bytes.length, name)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const texts: string[] = []
  for (let i = 0; i < count; i++) {
    let end = width
    while (end > 0 && view.getUint32((i * width + end - 1) * 4, true) === 0) end--
    let text = ''
    for (let j = 0; j < end; j++) {
      const point = view.getUint32((i * width + j) * 4, !isBig)
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
        throw badInput('encoding', `expected Unicode text for ${name}, received another code point`)
      }
      text += String.fromCodePoint(point)
    }
    texts.push(text)
  }
  return texts
}
