/**
 * Heads and texts of files of numpy's own format (.npy), with what browsers have.
 *
 * @see numpy.lib.format, versions 1.0 to 3.0.
 * @module
 */

const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] // \x93NUMPY
const maxHeaderBytes = 10_000

/** Whether bytes say that they are such a file. */
export function isNpy(bytes: Uint8Array): boolean {
  return bytes.length >= 10 && magic.every((byte, i) => bytes[i] === byte)
}

/** @returns the head of a file of version 1.0, in C order; its length is a multiple of 64 bytes. */
export function writeNpyHead(descr: string, shape: readonly number[]): Uint8Array<ArrayBuffer> {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`
  const dict = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`
  const size = Math.ceil((dict.length + 11) / 64) * 64
  const head = new TextEncoder().encode(`${' '.repeat(10)}${dict.padEnd(size - 11)}\n`)
  const length = size - 10
  head.set([...magic, 1, 0, length & 255, length >> 8])
  return head
}

/**
 * @returns what a head says of the elements, which start at `dataAt`; undefined for other bytes and
 * versions.
 */
export function readNpyHead(bytes: Uint8Array) {
  const major = bytes[6]
  if (!isNpy(bytes) || bytes.length < 12 || major < 1 || major > 3) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [start, length] =
    major === 1 ? [10, view.getUint16(8, true)] : [12, view.getUint32(8, true)]
  if (length > maxHeaderBytes || length > bytes.length - start) return undefined
  const header = new TextDecoder('latin1').decode(bytes.subarray(start, start + length))
  const descr = /'descr'\s*:\s*'([^'\\]{1,20})'/.exec(header)?.[1]
  const fortran = /'fortran_order'\s*:\s*(True|False)/.exec(header)?.[1]
  const tuple = /'shape'\s*:\s*\(([\d\s,L]*)\)/.exec(header)?.[1]
  if (descr === undefined || fortran === undefined || tuple === undefined) return undefined
  const shape = (tuple.match(/\d+/g) ?? []).map(Number)
  return { descr, fortran: fortran === 'True', shape, dataAt: start + length }
}

/** @returns texts as numpy has them: of one width, four bytes a character, zeros behind. */
export function widenTexts(texts: readonly string[]): {
  readonly points: Uint32Array<ArrayBuffer>
  readonly width: number
} {
  // numpy makes no texts of width 0.
  const width = texts.reduce((max, text) => Math.max(max, [...text].length), 1)
  const points = new Uint32Array(texts.length * width)
  for (const [i, text] of texts.entries()) {
    let at = i * width
    for (const character of text) points[at++] = character.codePointAt(0) as number
  }
  return { points, width }
}

/** @returns `count` texts of one width; undefined for other characters than those of Unicode. */
export function narrowTexts(
  points: DataView,
  count: number,
  width: number,
  isLittle: boolean,
): string[] | undefined {
  const texts: string[] = []
  for (let i = 0; i < count; i++) {
    let end = width
    while (end > 0 && points.getUint32((i * width + end - 1) * 4) === 0) end--
    let text = ''
    for (let j = 0; j < end; j++) {
      const point = points.getUint32((i * width + j) * 4, isLittle)
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined
      text += String.fromCodePoint(point)
    }
    texts.push(text)
  }
  return texts
}
