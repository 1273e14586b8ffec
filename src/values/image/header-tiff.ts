/** The size of a TIFF from the tags of its first directory. @module */
import type { ImageSize } from './image-size.ts'

/** BigTIFF has another magic number and is none of the known types. **Source**: TIFF 6.0, section 2. */
export function readTiff(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  if (bytes.length < 8) return undefined
  const little = bytes[0] === 0x49
  const directory = view.getUint32(4, little)
  if (directory + 2 > bytes.length) return undefined
  const count = view.getUint16(directory, little)
  let width: number | undefined
  let height: number | undefined
  let bitDepth: number | undefined
  for (let i = 0; i < count; i++) {
    const entry = directory + 2 + i * 12
    if (entry + 12 > bytes.length) break
    const tag = view.getUint16(entry, little)
    if (tag !== 256 && tag !== 257 && tag !== 258) continue
    const value = readValue(view, entry, little)
    // A doubled tag is refused: a decoder may go by the other one.
    if (tag === 256 && width === undefined) width = value
    else if (tag === 257 && height === undefined) height = value
    else if (tag === 258 && bitDepth === undefined) bitDepth = value
    else return undefined
  }
  return width === undefined || height === undefined ? undefined : { width, height, bitDepth }
}

/** Reads the first number of an entry: SHORT, LONG or BYTE, in the entry or at an offset. */
function readValue(view: DataView, entry: number, little: boolean): number | undefined {
  const type = view.getUint16(entry + 2, little)
  const bytes = { 1: 1, 3: 2, 4: 4 }[type]
  if (bytes === undefined) return undefined
  const outside = bytes * view.getUint32(entry + 4, little) > 4
  const at = outside ? view.getUint32(entry + 8, little) : entry + 8
  if (at + bytes > view.byteLength) return undefined
  return bytes === 1 ? view.getUint8(at) : bytes === 2 ? view.getUint16(at, little) : view.getUint32(at, little)
}
