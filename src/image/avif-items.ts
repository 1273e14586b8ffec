/**
 * Where the items of an AVIF file have their data.
 * @module
 */

const maxItems = 1024

/** Numbers one after the other; NaN behind the end. */
class Numbers {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The next number of 0 to 8 bytes. */
  read(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++) value = value * 256 + (this.#bytes[this.#at++] ?? Number.NaN)
    return value
  }
}

/**
 * The content of an `iloc` box becomes the data of each item: parts of `file`, or of the `idat` box.
 *
 * Undefined for what a decoder could read in another way: a box that is cut off, extents outside the file, data built of other items, more
 * data in all than the file has. **Source**: ISO/IEC 14496-12 section 8.11.3.
 */
export function itemData(iloc: Uint8Array, file: Uint8Array, idat: Uint8Array): Uint8Array[] | undefined {
  const numbers = new Numbers(iloc)
  const version = numbers.read(1)
  numbers.read(3)
  const sizes = numbers.read(2)
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15]
  const indexSize = version === 0 ? 0 : sizes & 15
  const wide = version === 2 ? 4 : 2
  const count = numbers.read(wide)
  if (!(version <= 2 && count <= maxItems)) return undefined
  const items: Uint8Array[] = []
  let total = 0
  for (let i = 0; i < count; i++) {
    numbers.read(wide)
    const method = version === 0 ? 0 : numbers.read(2) & 15
    numbers.read(2)
    const base = numbers.read(baseSize)
    const extents = numbers.read(2)
    if (method > 1 || !(extents <= maxItems)) return undefined
    const source = method === 0 ? file : idat
    const parts: Uint8Array[] = []
    for (let e = 0; e < extents; e++) {
      numbers.read(indexSize)
      const start = base + numbers.read(offsetSize)
      // Length 0 stands for all that follows.
      const length = numbers.read(lengthSize) || source.length - start
      if (!(start >= 0 && length >= 0 && start + length <= source.length)) return undefined
      total += length
      // Items may overlap; together they are never more work than a few passes over the file.
      if (total > 4 * file.length) return undefined
      parts.push(source.subarray(start, start + length))
    }
    items.push(parts.length === 1 ? parts[0] : Buffer.concat(parts))
  }
  return items
}
