/**
 * Decodes the pages of a flat Parquet column.
 * Source: parquet-format 2.10, "Encodings" and "Data Pages".
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { type PageHeader, type ParquetChunk, readPageHeader } from './parquet-metadata.ts'
import { unpackPage, type WorkBudget } from './parquet-unpack.ts'
import { ThriftReader, Unreadable } from './thrift.ts'

/** Numbers of the enums of parquet.thrift. */
const pageTypes = { data: 0, dictionary: 2, dataV2: 3 } as const
const encodings = { plain: 0, plainDictionary: 2, rle: 3, rleDictionary: 8 } as const

/** Physical types, by their number in the enum Type, with the bytes of a value; 0: bytes of any length. */
export const physical = { bool: 0, int32: 1, int64: 2, float: 4, double: 5, bytes: 6 } as const
const sizes: Readonly<Record<number, number>> = { 1: 4, 2: 8, 4: 4, 5: 8 }

/** Collects the values of a column over all of its pages. Nulls are zeros and empty texts. */
export class ColumnPages {
  /** Numbers, or flags of one byte. Text: the bytes, of which `textBytes` count. */
  data: Uint8Array
  readonly offsets: Int32Array | undefined
  readonly validity: Uint8Array
  nulls = 0
  textBytes = 0
  readonly #type: number
  readonly #isOptional: boolean
  readonly #size: number
  readonly #work: WorkBudget
  #row = 0

  constructor(type: number, isOptional: boolean, rows: number, work: WorkBudget) {
    this.#work = work
    this.#type = type
    this.#isOptional = isOptional
    this.#size = type === physical.bool ? 1 : (sizes[type] ?? 0)
    this.data = new Uint8Array(this.#size === 0 ? 1024 : rows * this.#size)
    this.offsets = this.#size === 0 ? new Int32Array(rows + 1) : undefined
    this.validity = new Uint8Array((rows + 7) >> 3)
  }

  /** Decodes the pages of a chunk. **Errors**: Unreadable for whatever is unknown or does not fit. */
  add(file: Uint8Array, { codec, start, end, values }: ParquetChunk): void {
    let at = start
    const last = this.#row + values
    let dictionary: Dictionary | undefined
    while (this.#row < last) {
      const header = readPageHeader(new ThriftReader(file, at, end))
      this.#work.takePage(header.start - at, header.packedBytes, header.unpackedBytes)
      at = header.start + header.packedBytes
      if (at > end) throw new Unreadable()
      const bytes = file.subarray(header.start, at)
      if (header.type === pageTypes.dictionary) {
        if (dictionary !== undefined) throw new Unreadable()
        dictionary = this.#dictionary(header, this.#unpack(bytes, codec, header.unpackedBytes))
      } else if (header.values > last - this.#row || header.values < 1) throw new Unreadable()
      else if (header.type === pageTypes.data) {
        this.#page(header, this.#unpack(bytes, codec, header.unpackedBytes), dictionary)
      } else if (header.type === pageTypes.dataV2) this.#pageV2(header, bytes, codec, dictionary)
      else throw new Unreadable()
    }
  }

  #unpack(bytes: Uint8Array, codec: number, unpackedBytes: number): Uint8Array {
    return unpackPage(bytes, codec, unpackedBytes, this.#work)
  }

  #dictionary({ values, encoding }: PageHeader, bytes: Uint8Array): Dictionary {
    if (encoding !== encodings.plain && encoding !== encodings.plainDictionary) throw new Unreadable()
    if (this.#type === physical.bool || values < 0) throw new Unreadable()
    if (this.#size > 0) {
      if (values * this.#size > bytes.length) throw new Unreadable()
      return { values, bytes, starts: undefined }
    }
    // Each value takes four bytes at least.
    if (values * 4 > bytes.length) throw new Unreadable()
    const starts = new Int32Array(values * 2)
    readTexts(bytes, values, (i, from, to) => {
      starts[i * 2] = from
      starts[i * 2 + 1] = to
    })
    return { values, bytes, starts }
  }

  #page({ values, encoding }: PageHeader, bytes: Uint8Array, dictionary: Dictionary | undefined): void {
    let at = 0
    let levels: Uint8Array | undefined
    if (this.#isOptional) {
      const length = uint32(bytes, 0)
      at = 4 + length
      if (at > bytes.length) throw new Unreadable()
      levels = bytes.subarray(4, at)
    }
    this.#values(values, encoding, levels, bytes.subarray(at), dictionary)
  }

  #pageV2(header: PageHeader, bytes: Uint8Array, codec: number, dictionary: Dictionary | undefined): void {
    const { repetition, definition, isPacked } = header.levels ?? { repetition: -1, definition: -1, isPacked: false }
    if (repetition !== 0 || definition < 0 || definition > bytes.length) throw new Unreadable()
    const rest = bytes.subarray(definition)
    const own = isPacked ? this.#unpack(rest, codec, header.unpackedBytes - definition) : rest
    const levels = this.#isOptional ? bytes.subarray(0, definition) : undefined
    this.#values(header.values, header.encoding, levels, own, dictionary)
  }

  #values(
    count: number,
    encoding: number,
    levels: Uint8Array | undefined,
    bytes: Uint8Array,
    dictionary: Dictionary | undefined,
  ): void {
    const places = this.#places(count, levels)
    if (encoding === encodings.plainDictionary || encoding === encodings.rleDictionary) {
      if (dictionary === undefined || bytes.length === 0) throw new Unreadable()
      const codes = new Int32Array(places.length)
      readHybrid(bytes.subarray(1), bytes[0], codes)
      this.#look(places, codes, dictionary)
    } else if (encoding === encodings.plain) this.#plain(places, bytes)
    else if (encoding === encodings.rle && this.#type === physical.bool) {
      const flags = new Int32Array(places.length)
      readHybrid(bytes.subarray(4, 4 + uint32(bytes, 0)), 1, flags)
      for (let i = 0; i < places.length; i++) this.data[places[i]] = flags[i]
    } else throw new Unreadable()
    this.#row += count
  }

  /** Returns the rows that have a value, and marks them as valid. */
  #places(count: number, levels: Uint8Array | undefined): Int32Array {
    const first = this.#row
    const places = new Int32Array(count)
    let flags: Int32Array | undefined
    if (levels !== undefined) {
      flags = new Int32Array(count)
      readHybrid(levels, 1, flags)
    }
    let found = 0
    for (let i = 0; i < count; i++) {
      if (flags !== undefined && flags[i] === 0) continue
      const row = first + i
      this.validity[row >> 3] |= 1 << (row & 7)
      places[found++] = row
    }
    this.nulls += count - found
    return places.subarray(0, found)
  }

  #plain(places: Int32Array, bytes: Uint8Array): void {
    const size = this.#size
    if (this.#type === physical.bool) {
      if (places.length > bytes.length * 8) throw new Unreadable()
      for (let i = 0; i < places.length; i++) this.data[places[i]] = (bytes[i >> 3] >> (i & 7)) & 1
    } else if (size > 0) {
      if (places.length * size > bytes.length) throw new Unreadable()
      const isDense = places.length > 0 && places[places.length - 1] - places[0] === places.length - 1
      if (isDense) this.data.set(bytes.subarray(0, places.length * size), places[0] * size)
      else for (let i = 0; i < places.length; i++) this.#copy(bytes, i * size, places[i])
    } else {
      this.#texts(places, (each) => readTexts(bytes, places.length, (i, from, to) => each(i, bytes, from, to)))
    }
  }

  #look(places: Int32Array, codes: Int32Array, { values, bytes, starts }: Dictionary): void {
    for (let i = 0; i < codes.length; i++) if (codes[i] < 0 || codes[i] >= values) throw new Unreadable()
    if (starts === undefined) {
      for (let i = 0; i < places.length; i++) this.#copy(bytes, codes[i] * this.#size, places[i])
      return
    }
    this.#texts(places, (each) => {
      for (let i = 0; i < places.length; i++) {
        const [from, to] = [starts[codes[i] * 2], starts[codes[i] * 2 + 1]]
        // An entry may be repeated in each row.
        this.#work.take(to - from)
        each(i, bytes, from, to)
      }
    })
  }

  #copy(bytes: Uint8Array, from: number, row: number): void {
    const size = this.#size
    const to = row * size
    for (let i = 0; i < size; i++) this.data[to + i] = bytes[from + i]
  }

  /** Appends texts at rows in ascending order. */
  #texts(
    places: Int32Array,
    all: (each: (i: number, bytes: Uint8Array, from: number, to: number) => void) => void,
  ): void {
    const offsets = this.offsets as Int32Array
    let filled = this.#row
    all((i, bytes, from, to) => {
      const length = to - from
      if (this.textBytes + length > this.data.length) this.#grow(length)
      // Rows without a text end where they start.
      while (filled < places[i]) offsets[++filled] = this.textBytes
      for (let j = 0; j < length; j++) this.data[this.textBytes + j] = bytes[from + j]
      this.textBytes += length
      offsets[++filled] = this.textBytes
    })
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(this.data.length * 2, this.textBytes + length))
    grown.set(this.data)
    this.data = grown
  }

  /** Fills the ends of the rows after the last text, and checks that all texts are UTF-8. **Errors**: Unreadable. */
  finishTexts(): void {
    const offsets = this.offsets as Int32Array
    const { data, textBytes } = this
    for (let row = 1; row < offsets.length; row++) if (offsets[row] < offsets[row - 1]) offsets[row] = offsets[row - 1]
    if (!isUtf8(data.subarray(0, textBytes))) throw new Unreadable()
    // Whole characters one after the other could be cut in the wrong places.
    for (let row = 0; row < offsets.length; row++) {
      if (offsets[row] < textBytes && (data[offsets[row]] & 0xc0) === 0x80) throw new Unreadable()
    }
  }
}

/** Values that pages refer to by their number. Texts: from `starts[2 i]` to `starts[2 i + 1]`. */
interface Dictionary {
  readonly values: number
  readonly bytes: Uint8Array
  readonly starts: Int32Array | undefined
}

function uint32(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) throw new Unreadable()
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0
}

/** Reads texts, each after its length. */
function readTexts(bytes: Uint8Array, count: number, each: (i: number, from: number, to: number) => void): void {
  let at = 0
  for (let i = 0; i < count; i++) {
    const length = uint32(bytes, at)
    at += 4
    if (length > bytes.length - at) throw new Unreadable()
    each(i, at, at + length)
    at += length
  }
}

/** Reads `into.length` numbers of `width` bits: runs of one number, and groups of eight packed ones. */
function readHybrid(bytes: Uint8Array, width: number, into: Int32Array): void {
  if (width > 24) throw new Unreadable()
  const runBytes = (width + 7) >> 3
  const mask = (1 << width) - 1
  let at = 0
  for (let filled = 0; filled < into.length; ) {
    let head = 0
    for (let shift = 0; ; shift += 7) {
      if (at >= bytes.length || shift > 28) throw new Unreadable()
      const byte = bytes[at++]
      head |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    const count = head >>> 1
    if ((head & 1) === 0) {
      if (at + runBytes > bytes.length || count === 0) throw new Unreadable()
      let value = 0
      for (let i = 0; i < runBytes; i++) value |= bytes[at++] << (8 * i)
      if (value > mask) throw new Unreadable()
      const end = Math.min(into.length, filled + count)
      into.fill(value, filled, end)
      filled = end
      continue
    }
    const groupBytes = count * width
    if (count === 0 || (width > 0 && at >= bytes.length)) throw new Unreadable()
    const end = Math.min(into.length, filled + count * 8)
    for (let bit = 0; filled < end; filled++, bit += width) {
      const place = at + (bit >> 3)
      if (place + ((width + (bit & 7) + 7) >> 3) > bytes.length) throw new Unreadable()
      const word = bytes[place] | (bytes[place + 1] << 8) | (bytes[place + 2] << 16) | (bytes[place + 3] << 24)
      into[filled] = (word >>> (bit & 7)) & mask
    }
    at += groupBytes
  }
}
