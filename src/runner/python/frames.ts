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
import { bytesOf } from '../../core/memory/byte-copy.ts'
import { turnBytes } from '../../core/memory/copies.ts'
import { InOrder, type MaybePromise, whenAllReady, whenReady } from '../../core/promise.ts'
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

/** Whether views are too large to be copied in one turn of the event loop. */
const areLarge = (views: readonly ViewEntry[]) =>
  views.reduce((sum, [, bytes]) => sum + bytes, 0) > turnBytes

/**
 * @returns the bytes of a message, views copied.
 * @throws RangeError if it is too large.
 */
export function encodeFrame(
  message: unknown,
  views: readonly Transfer[],
  file: SharedFile,
  freed: readonly number[],
): MaybePromise<Buffer> {
  const entries = (views as readonly Uint8Array[]).map(
    (view) => [typeCodes[view[Symbol.toStringTag]], view.byteLength, -1] as const,
  )
  const isLater = areLarge(entries)
  const starts = (views as readonly ArrayBufferView[]).map((view) =>
    view.byteLength < minSharedBytes ? -1 : whenReady(file.write(view, isLater), (at) => at ?? -1),
  )
  return whenAllReady(starts, (places) => {
    const placed = entries.map(([type, bytes], i) => [type, bytes, places[i]] as const)
    const near = (views as readonly ArrayBufferView[]).filter((_, i) => places[i] === -1)
    return frameOf(message, placed, near, freed)
  })
}

function frameOf(
  message: unknown,
  entries: readonly ViewEntry[],
  near: readonly ArrayBufferView[],
  freed: readonly number[],
): Buffer {
  const behind = near.reduce((sum, { byteLength }) => sum + filledUp(byteLength), 0)
  const text = JSON.stringify({ message, views: entries, freed } satisfies Header)
  const length = filledUp(Buffer.byteLength(text))
  if (behind > maxBytes || length > maxBytes)
    throw new RangeError(`a message of ${behind + length} bytes is too large`)
  const frame = Buffer.allocUnsafe(8 + length + behind)
  frame.writeUInt32LE(length, 0)
  frame.writeUInt32LE(behind, 4)
  let at = 8 + length
  frame.fill(' ', 8 + frame.write(text, 8), at)
  for (const view of near) {
    frame.set(bytesOf(view), at)
    at += filledUp(view.byteLength)
  }
  return frame
}

/**
 * `fail`: gets the error of memory that cannot be read.
 *
 * @returns what reads messages from the bytes of a stream, and tells what it has read of the shared
 * file.
 */
export function frameReader(
  file: SharedFile,
  receive: (message: unknown, freed: readonly number[]) => void,
  fail: (error: unknown) => void,
) {
  const inOrder = new InOrder()
  let chunks: Buffer[] = []
  let size = 0
  let needed = 8
  let freedHere: number[] = []

  const take = (frame: Buffer, headerLength: number) => {
    const { message, views, freed } = parseText(
      frame.toString('utf8', 8, 8 + headerLength),
    ) as Header
    let at = 8 + headerLength
    const isLater = areLarge(views)
    const memories = views.map(([type, bytes, start]): MaybePromise<ArrayBufferView> => {
      const Container = containers[type]
      if (start === -1) {
        const near = new Uint8Array(frame.subarray(at, at + bytes))
        at += filledUp(bytes)
        return new Container(near.buffer)
      }
      return whenReady(file.read(start, bytes, isLater), (memory) => {
        freedHere.push(start)
        return new Container(memory)
      })
    })
    const use = (ready: readonly ArrayBufferView[]) => {
      if (ready.length > 0) putViews(message, ready)
      receive(message, freed)
    }
    const ready = whenAllReady(memories, (views) => views)
    inOrder.add(ready, use, fail)
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
