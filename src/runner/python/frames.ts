/**
 * Messages to a process in Python and back, as bytes: a header of JSON, and memory that lies behind it or in a shared
 * file.
 *
 * | bytes | what |
 * |---|---|
 * | 4 | length of the header, a multiple of 8, little-endian |
 * | 4 | length of the memory behind it |
 * | … | header: `{ message, views, freed }`, filled with spaces |
 * | … | memory of the views, each filled up to a multiple of 8 |
 *
 * A view is `[type, bytes, start]`: its type code, as Python's `struct` has them, and where it begins in the shared
 * file, -1 for one behind the header. `freed` are blocks of the file in the other direction that have been read.
 * @module
 */
import { parseText } from '../../core/text/parse-text.ts'
import type { Packed } from '../transfer.ts'
import type { Transfer } from '../worker.ts'
import type { SharedFile } from './shared-file.ts'

/** Views from this size go through the shared file. **Units**: bytes. */
const minSharedBytes = 64 * 1024
const maxBytes = 0xffff_ffff

const containers: Readonly<Record<string, new (memory: ArrayBuffer) => ArrayBufferView>> = {
  b: Int8Array,
  B: Uint8Array,
  h: Int16Array,
  H: Uint16Array,
  i: Int32Array,
  I: Uint32Array,
  q: BigInt64Array,
  Q: BigUint64Array,
  f: Float32Array,
  d: Float64Array,
}

const typeCodes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(containers).map(([code, { name }]) => [name, code])),
  Uint8ClampedArray: 'B',
  Float16Array: 'e',
}

type ViewEntry = readonly [type: string, bytes: number, start: number]

interface Header {
  readonly message: unknown
  readonly views: readonly ViewEntry[]
  readonly freed: readonly number[]
}

const filledUp = (length: number) => Math.ceil(length / 8) * 8

/**
 * @returns the pieces of a message, views copied.
 * @throws RangeError if it is too large.
 */
export function encodeFrame(
  message: unknown,
  views: readonly Transfer[],
  file: SharedFile,
  freed: readonly number[],
): Buffer[] {
  const entries: ViewEntry[] = []
  const pieces: Buffer[] = []
  let behind = 0
  for (const view of views as readonly ArrayBufferView[]) {
    const { buffer, byteOffset, byteLength } = view
    const type = typeCodes[(view as Uint8Array)[Symbol.toStringTag]]
    const start = byteLength < minSharedBytes ? undefined : file.write(view)
    entries.push([type, byteLength, start ?? -1])
    if (start !== undefined) continue
    const piece = Buffer.alloc(filledUp(byteLength))
    piece.set(new Uint8Array(buffer, byteOffset, byteLength))
    pieces.push(piece)
    behind += piece.length
  }
  const text = JSON.stringify({ message, views: entries, freed } satisfies Header)
  const length = filledUp(Buffer.byteLength(text))
  if (behind > maxBytes || length > maxBytes)
    throw new RangeError(`a message of ${behind + length} bytes is too large`)
  const first = Buffer.allocUnsafe(8 + length)
  first.writeUInt32LE(length, 0)
  first.writeUInt32LE(behind, 4)
  first.fill(' ', 8 + first.write(text, 8))
  return [first, ...pieces]
}

/**
 * @returns what reads messages from the bytes of a stream, and tells what it has read of the shared
 * file.
 */
export function frameReader(
  file: SharedFile,
  receive: (message: unknown, freed: readonly number[]) => void,
) {
  let chunks: Buffer[] = []
  let size = 0
  let needed = 8
  let freedHere: number[] = []

  const take = (frame: Buffer, headerLength: number) => {
    const { message, views, freed } = parseText(
      frame.toString('utf8', 8, 8 + headerLength),
    ) as Header
    let at = 8 + headerLength
    const memories = views.map(([type, bytes, start]) => {
      const Container = containers[type]
      if (start === -1) {
        const own = new Uint8Array(frame.subarray(at, at + bytes))
        at += filledUp(bytes)
        return new Container(own.buffer)
      }
      freedHere.push(start)
      return new Container(file.read(start, bytes))
    })
    if (memories.length > 0) putViews(message, memories)
    receive(message, freed)
  }

  return {
    write(chunk: Buffer): void {
      chunks.push(chunk)
      size += chunk.length
      while (size >= needed) {
        const all = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
        const [header, behind] = [all.readUInt32LE(0), all.readUInt32LE(4)]
        needed = 8 + header + behind
        chunks = [all]
        if (size < needed) return
        const rest = all.subarray(needed)
        chunks = rest.length === 0 ? [] : [rest]
        size = rest.length
        const frame = all.subarray(0, needed)
        needed = 8
        take(frame, header)
      }
    },
    takeFreed(): readonly number[] {
      const freed = freedHere
      freedHere = []
      return freed
    },
  }
}

function putViews(message: unknown, views: readonly ArrayBufferView[]): void {
  const { reply, part } = message as { readonly reply?: Replied; readonly part?: Replied }
  const { results, item } = reply ?? part ?? {}
  if (item !== undefined) fill(item, views)
  if (results === undefined) return
  for (const packed of 'stack' in results ? [results.stack] : results.items) fill(packed, views)
}

interface Replied {
  readonly results?: { readonly items: readonly Packed[] } | { readonly stack: Packed }
  readonly item?: Packed
}

function fill({ objects = [] }: Packed, views: readonly ArrayBufferView[]): void {
  for (const [, , fields] of objects) {
    const value = fields.value as { data?: unknown }
    if (typeof value.data === 'number') value.data = views[value.data]
    fill(fields, views)
  }
}
