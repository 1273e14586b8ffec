/**
 * A column in the making: one JSON scalar after another, its kind found on the way.
 * @module
 */
import type { Column } from './columns.ts'

/** What a builder has seen so far, from nothing but nulls upwards. */
export type BuilderKind = 'null' | 'bool' | 'int' | 'float' | 'str'

/** Memory of one's own, as the number views below want it. */
type Bytes = Uint8Array<ArrayBuffer>

const empty: Bytes = new Uint8Array(0)

/** Collects elements. Appending answers false when the element's kind does not go with those before it. */
export class ColumnBuilder {
  kind: BuilderKind = 'null'
  length = 0
  #hasNull = false
  #valid = empty
  /** int and float: 8 bytes an element; bool: one. */
  #cells = empty
  #words = new Int32Array(0)
  #floats = new Float64Array(0)
  #text = empty
  #used = 0
  #offsets = new Int32Array(0)

  /** Appends a null. */
  null(): void {
    if (!this.#hasNull) {
      this.#hasNull = true
      this.#valid = new Uint8Array(roomFor(this.length + 1)).fill(1, 0, this.length)
    }
    this.#grow()
    if (this.kind === 'str') this.#offsets[this.length + 1] = this.#used
    this.#mark(0)
  }

  /** Appends a boolean. */
  bool(value: boolean): boolean {
    if (this.kind !== 'bool' && !this.#become('bool')) return false
    this.#grow()
    this.#cells[this.length] = value ? 1 : 0
    this.#mark(1)
    return true
  }

  /** Appends an integer within ±2^53. */
  int(value: number): boolean {
    // + 0: the integer -0 is 0, whatever its column turns out to be.
    if (this.kind === 'float') return this.float(value + 0)
    if (this.kind !== 'int' && !this.#become('int')) return false
    this.#grow()
    const at = this.length * 2
    // Conversion to int32 keeps the low 32 bits of any exact integer, in two's complement.
    this.#words[at] = value | 0
    this.#words[at + 1] = Math.floor(value / 4294967296)
    this.#mark(1)
    return true
  }

  /** Appends an integer of the int64 range. */
  bigint(value: bigint): boolean {
    if (this.kind === 'float') return this.float(Number(value))
    if (this.kind !== 'int' && !this.#become('int')) return false
    this.#grow()
    this.#words[this.length * 2] = Number(BigInt.asIntN(32, value))
    this.#words[this.length * 2 + 1] = Number(BigInt.asIntN(32, value >> 32n))
    this.#mark(1)
    return true
  }

  /** Appends a number that was not written as an integer. */
  float(value: number): boolean {
    if (this.kind !== 'float' && !this.#become('float')) return false
    this.#grow()
    this.#floats[this.length] = value
    this.#mark(1)
    return true
  }

  /** Appends a string by its UTF-8 bytes. */
  str(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.kind !== 'str' && !this.#become('str')) return false
    this.#grow()
    const need = this.#used + end - start
    if (need > this.#text.length) {
      const grown = new Uint8Array(Math.max(need, this.#text.length * 2, 256))
      grown.set(this.#text.subarray(0, this.#used))
      this.#text = grown
    }
    // Byte by byte up to here is faster than the call that copies.
    if (end - start < 48) for (let i = start, to = this.#used; i < end; i++) this.#text[to++] = bytes[i]
    else this.#text.set(bytes.subarray(start, end), this.#used)
    this.#used = need
    this.#offsets[this.length + 1] = need
    this.#mark(1)
    return true
  }

  /** Appends nulls up to a length. */
  padTo(length: number): void {
    while (this.length < length) this.null()
  }

  /** The bytes of element `row` of a str column are `key[start…end]`. */
  holds(row: number, key: Uint8Array, start: number, end: number): boolean {
    const from = this.#offsets[row]
    if (this.#offsets[row + 1] - from !== end - start) return false
    for (let i = start, at = from; i < end; i++, at++) if (key[i] !== this.#text[at]) return false
    return true
  }

  /** Element `row` of a str column as a string, for maps. */
  textAt(row: number): string {
    return Buffer.from(this.#text.buffer, this.#offsets[row], this.#offsets[row + 1] - this.#offsets[row]).toString()
  }

  #mark(valid: 0 | 1): void {
    if (this.#hasNull) this.#valid[this.length] = valid
    this.length++
  }

  #grow(): void {
    const at = this.length
    if (this.#hasNull && at >= this.#valid.length) this.#valid = grown(this.#valid, roomFor(at + 1))
    if (this.kind === 'bool') {
      if (at >= this.#cells.length) this.#cells = grown(this.#cells, roomFor(at + 1))
    } else if (this.kind === 'str') {
      if (at + 1 >= this.#offsets.length) {
        const next = new Int32Array(roomFor(at + 2))
        next.set(this.#offsets)
        this.#offsets = next
      }
    } else if (this.kind !== 'null' && at >= this.#floats.length)
      this.#setNumbers(grown(this.#cells, roomFor(at + 1) * 8))
  }

  #setNumbers(cells: Bytes): void {
    this.#cells = cells
    this.#words = new Int32Array(cells.buffer)
    this.#floats = new Float64Array(cells.buffer)
  }

  /** Changes the kind where that loses nothing: nulls to anything, integers to floats. */
  #become(kind: BuilderKind): boolean {
    if (this.kind === 'null') {
      this.kind = kind
      if (this.length > 0) {
        const room = roomFor(this.length + 1)
        if (kind === 'bool') this.#cells = new Uint8Array(room)
        else if (kind === 'str') this.#offsets = new Int32Array(room + 1)
        else this.#setNumbers(new Uint8Array(room * 8))
      }
      return true
    }
    if (this.kind !== 'int' || kind !== 'float') return false
    this.kind = 'float'
    for (let i = 0; i < this.length; i++) {
      // The high part is exact, so the sum rounds once: the double nearest to the integer.
      this.#floats[i] = this.#words[i * 2 + 1] * 4294967296 + (this.#words[i * 2] >>> 0)
    }
    return true
  }

  /** The column; without any value it is float64, as numpy's missing value is. */
  finish(name: string): Column {
    const rows = this.length
    const validity = this.#hasNull ? { validity: toBits(this.#valid, rows) } : {}
    switch (this.kind) {
      case 'bool':
        return { name, kind: 'bool', data: toBits(this.#cells, rows), ...validity }
      case 'str':
        return {
          name,
          kind: 'str',
          data: this.#text.subarray(0, this.#used),
          offsets: this.#endOffsets(rows),
          ...validity,
        }
      case 'int':
        return { name, kind: 'int64', data: this.#cells.subarray(0, rows * 8), ...validity }
      case 'float':
        return { name, kind: 'float64', data: this.#cells.subarray(0, rows * 8), ...validity }
      case 'null':
        return { name, kind: 'float64', data: new Uint8Array(rows * 8), ...validity }
    }
  }

  #endOffsets(rows: number): Int32Array {
    return this.#offsets.length > rows ? this.#offsets.subarray(0, rows + 1) : new Int32Array(rows + 1)
  }

  /** The elements in another order: element `i` becomes `from[i]`, or null where that is -1. */
  gather(from: Int32Array, rows: number): ColumnBuilder {
    const next = new ColumnBuilder()
    for (let i = 0; i < rows; i++) {
      const at = i < from.length ? from[i] : -1
      if (at === -1 || (this.#hasNull && this.#valid[at] === 0)) next.null()
      else if (this.kind === 'bool') next.bool(this.#cells[at] === 1)
      else if (this.kind === 'str') next.str(this.#text, this.#offsets[at], this.#offsets[at + 1])
      else if (this.kind === 'float') next.float(this.#floats[at])
      else {
        next.bigint((BigInt(this.#words[at * 2 + 1]) << 32n) | BigInt(this.#words[at * 2] >>> 0))
      }
    }
    return next
  }
}

function roomFor(length: number): number {
  return length <= 8 ? 8 : 2 ** Math.ceil(Math.log2(length))
}

function grown(bytes: Uint8Array, length: number): Bytes {
  const next = new Uint8Array(length)
  next.set(bytes)
  return next
}

function toBits(flags: Uint8Array, count: number): Uint8Array {
  const bits = new Uint8Array((count + 7) >> 3)
  for (let i = 0; i < count; i++) bits[i >> 3] |= flags[i] << (i & 7)
  return bits
}
