/** A record batch of Arrow IPC: its nodes and buffers, in the order of the columns. @module */
import type { FlatTable } from '../../array/flatbuffer.ts'
import type { AnyColumn } from '../columns.ts'
import { damagedFile, type MadeBytes } from './file-refusal.ts'

/** Unpacks buffers, each to its size, by a codec: 0 is LZ4 in frames, 1 is Zstandard. */
export type UnpackBuffers = (
  codec: number,
  parts: readonly { readonly packed: Uint8Array; readonly size: number }[],
) => Uint8Array[]

/** What columns are read with. A file of a client has bounds, and every offset in it is checked. */
export interface ArrowSource {
  readonly dictionaries: Map<number, { readonly values: AnyColumn; readonly rows: number }>
  /** Whether decimals that are no elements of others become texts, with all of their digits, and not floats. */
  readonly keepsDigits: boolean
  readonly client?: { readonly made: MadeBytes; readonly unpack: UnpackBuffers }
}

/** Bytes before the data of a compressed buffer: their unpacked size, -1 for data without compression. */
const sizeBytes = 8

/** Reads the nodes and buffers of a batch one after another. */
export class ArrowBatch {
  readonly rows: number
  readonly source: ArrowSource
  readonly #nodes: readonly number[]
  readonly #buffers: readonly Uint8Array[]
  readonly #heapCounts: readonly number[]
  #node = 0
  #buffer = 0
  #heap = 0

  constructor(source: ArrowSource, body: Uint8Array, header: FlatTable | undefined) {
    this.source = source
    this.rows = header?.long(0) ?? 0
    this.#nodes = header?.longs(1, 2) ?? []
    this.#heapCounts = header?.longs(4) ?? []
    const places = header?.longs(2, 2) ?? []
    const buffers: Uint8Array[] = []
    for (let i = 0; i < places.length; i += 2) {
      const [at, size] = [places[i], places[i + 1]]
      if (at < 0 || size < 0 || at + size > body.length)
        throw damagedFile('a buffer beyond its batch')
      buffers.push(body.subarray(at, at + size))
    }
    const compression = header?.table(3)
    this.#buffers =
      compression === undefined ? buffers : this.#unpacked(compression.uint8(0), buffers)
  }

  #unpacked(codec: number, buffers: readonly Uint8Array[]): Uint8Array[] {
    const { client } = this.source
    if (client === undefined) throw damagedFile()
    const parts: { packed: Uint8Array; size: number }[] = []
    const sizes = buffers.map((buffer) => {
      if (buffer.length < sizeBytes) return -1
      const view = new DataView(buffer.buffer, buffer.byteOffset, sizeBytes)
      const size = Number(view.getBigInt64(0, true))
      if (size < 1) return -1
      client.made.take(size)
      parts.push({ packed: buffer.subarray(sizeBytes), size })
      return size
    })
    const unpacked = parts.length === 0 ? [] : client.unpack(codec, parts)
    let part = 0
    return buffers.map((buffer, i) =>
      sizes[i] === -1 ? buffer.subarray(sizeBytes) : unpacked[part++],
    )
  }

  /** @returns the rows of the next node, which {@link node} takes. */
  get nextRows(): number {
    return this.#nodes[this.#node] ?? 0
  }

  node(): readonly [rows: number, nulls: number] {
    const at = this.#node
    this.#node += 2
    return [this.#nodes[at] ?? 0, this.#nodes[at + 1] ?? 0]
  }

  bytes(): Uint8Array {
    return this.#buffers[this.#buffer++] ?? noBytes
  }

  heaps(): Uint8Array[] {
    const count = this.#heapCounts[this.#heap++] ?? 0
    if (count < 0 || count > this.#buffers.length - this.#buffer)
      throw damagedFile('fewer buffers than it says')
    return Array.from({ length: count }, () => this.bytes())
  }
}

const noBytes = new Uint8Array(0)
