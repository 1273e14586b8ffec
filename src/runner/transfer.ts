/** Values between threads and processes: memory is copied once or moved, and classes are kept. @module */

import { BadInput, InvalidArgument, show } from '../core/errors.ts'
import { bytesOf } from '../core/memory/byte-copy.ts'
import { Copies, turnBytes } from '../core/memory/copies.ts'
import { markGone } from '../core/memory/mark-gone.ts'
import { setMember } from '../core/options.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { leaveToCollector } from '../values/image/request-pixels.ts'
import { pythonSerializerOf } from './python/plain-forms.ts'
import { type Serializer, serializerNamed, serializerOf } from './serializers.ts'
import type { Transfer } from './worker.ts'

/** Copied buffers from this size are moved; a structured clone does for smaller ones. **Units**: bytes. */
export const minMoveBytes = 16 * 1024

/** NDArrays up to this size are always copied: V8 keeps them in its own heap. **Units**: bytes. */
export const maxHeapBytes = 64

/** What lies between the two sides: shared memory, or the boundary of a thread, a process, or a process in Python. */
export type Boundary = 'none' | 'thread' | 'process' | 'python'

/** Plain data that can be sent, and which objects to restore in it. */
export interface Packed {
  readonly value: unknown
  /** Objects to restore, each with its path in `value`; a path of length 0 is the value. */
  readonly objects?: readonly PackedObject[]
}

type Path = readonly (string | number)[]
type PackedObject = readonly [path: Path, serializer: string, fields: Packed]
type View = ArrayBufferView<ArrayBufferLike> & { slice(): View }
type Visit = (leaf: unknown, path: Path) => unknown

/** How a message goes. `copies`: makes those of large memory in turns, before the message is sent. */
interface Way {
  readonly boundary: Boundary
  readonly transfer: Transfer[]
  readonly copies: Copies | undefined
  /** Set for a copy, which takes nothing from the value. Told of all memory before it is copied. */
  readonly hold?: (bytes: number) => void
}

const moved = new WeakSet<object>()

/**
 * Makes a value sendable; `transfer`: gets buffers to move, and large views that go to a process in pieces. `copies`:
 * until they are made, the value must stay unchanged.
 *
 * @throws InvalidArgument, BadInput for deep nesting.
 */
export function pack(
  value: unknown,
  boundary: Boundary,
  transfer: Transfer[] = [],
  copies?: Copies,
): Packed {
  return packBy({ boundary, transfer, copies }, value)
}

class CopiesInMemory extends Copies {
  override allocate(): never {
    throw new InvalidArgument('expected a value in memory for a copy, received a file on disk')
  }
}

/**
 * Makes a value ready for `serialize` of node:v8, beside a call that gets the value itself.
 *
 * @param hold - Called with the bytes of large memory before it is copied. May throw.
 * @throws InvalidArgument for what cannot be copied at once.
 */
export function packCopy(value: unknown, hold: (bytes: number) => void): Packed {
  return packBy({ boundary: 'process', transfer: [], copies: new CopiesInMemory(), hold }, value)
}

function packBy(way: Way, value: unknown): Packed {
  const objects: PackedObject[] = []
  const plain = mapLeaves(value, [], packLeaf(way, objects), way.boundary === 'python')
  return packed(plain, objects)
}

const packed = (value: unknown, objects: readonly PackedObject[]): Packed =>
  objects.length === 0 ? { value } : { value, objects }

function packLeaf(way: Way, objects: PackedObject[]): Visit {
  return (leaf, path) => {
    const forPython = way.boundary === 'python' ? pythonSerializerOf(leaf) : undefined
    if (forPython === undefined && ArrayBuffer.isView(leaf))
      return packView(leaf as View, false, way)
    const serializer = forPython ?? serializerOf(leaf)
    if (serializer === undefined) return packBuiltIn(leaf, way)
    objects.push([[...path], serializer.name, packFields(leaf as object, serializer, way)])
    return null
  }
}

function packFields(object: object, serializer: Serializer<object>, way: Way): Packed {
  const { boundary, copies, hold } = way
  const later = copies && serializer.toFieldsLater?.(object, copies)
  const fields: Record<string, unknown> = { ...(later ?? serializer.toFields(object)) }
  const isOwned = moved.has(object) || serializer.fresh === true
  const objects: PackedObject[] = []
  for (const name in fields) {
    const field = fields[name]
    if (ArrayBuffer.isView(field)) {
      const isSmall =
        object instanceof NDArray && field.byteLength <= maxHeapBytes && boundary !== 'none'
      const view = isSmall ? copyOf(field as View) : (field as View)
      fields[name] = packView(view, isOwned, way)
    } else if (!isFlat(field)) {
      fields[name] = mapLeaves(field, [name], packLeaf(way, objects), boundary === 'python')
    }
  }
  if (hold === undefined && moved.delete(object))
    for (const name of serializer.movable ?? []) markMoved(object, name)
  return packed(fields, objects)
}

function isFlat(field: unknown): boolean {
  if (!Array.isArray(field)) return typeof field === 'string'
  for (const item of field) if (typeof item !== 'number') return false
  return true
}

/** The inverse of {@link pack}. */
export function unpack({ value, objects }: Packed): unknown {
  if (objects === undefined) return value
  let result = value
  for (const [path, name, fields] of objects) {
    const object = serializerNamed(name).fromFields(unpack(fields) as Record<string, unknown>)
    if (path.length === 0) result = object
    else put(result, path, object)
  }
  return result
}

/**
 * Reading the given object then throws. A part of a buffer and WebAssembly's memory are copied,
 * shared memory is shared.
 *
 * @returns an array or picture with the same data, for one runner call or result, which moves the
 * memory.
 * @throws InvalidArgument for objects without `movable` fields.
 * @example
 * `return iris.predict(move(x), ctx)`
 */
export function move<T extends object>(value: T): T {
  const serializer = serializerOf(value)
  const names = serializer?.movable ?? []
  if (serializer === undefined || names.length === 0) {
    const what = 'an NDArray, a RasterImage or an object whose serializer names movable fields'
    throw new InvalidArgument(`expected ${what} for move, received ${describe(value)}`)
  }
  const fields: Record<string, unknown> = { ...serializer.toFields(value) }
  for (const name of names) {
    if (!Object.hasOwn(value, name) || Object.isFrozen(value)) {
      throw new InvalidArgument(
        `expected an object with a ${name} of its own that can be marked as moved for move`,
      )
    }
    if (ArrayBuffer.isView(fields[name])) fields[name] = detach(fields[name] as View)
    markMoved(value, name)
  }
  const own = serializer.fromFields(fields)
  moved.add(own)
  return own as T
}

/** Whether {@link move} made an object. */
export const isMoved = (value: object): boolean => moved.has(value)

function markMoved(object: object, name: string): void {
  markGone(
    object,
    name,
    `the ${name} of this ${object.constructor.name} was given away by move and is gone`,
  )
}

function detach(view: View): View {
  if (view.buffer instanceof SharedArrayBuffer) return view
  if (view.byteLength < minMoveBytes || view.byteLength !== view.buffer.byteLength)
    return copyOf(view)
  try {
    return structuredClone(view, { transfer: [view.buffer] })
  } catch {
    return copyOf(view)
  }
}

const maxDepth = 1_000

/** Replaces each leaf (a view, an object of a class, a function). `isJson`: NaN and infinities are leaves too. */
function mapLeaves(
  value: unknown,
  path: (string | number)[],
  visit: Visit,
  isJson: boolean,
): unknown {
  if (typeof value !== 'object' || value === null) {
    const isLeaf =
      typeof value === 'function' || typeof value === 'symbol' || (isJson && !isInJson(value))
    return isLeaf ? visit(value, path) : value
  }
  const isList = Array.isArray(value)
  if (!isList) {
    const proto = Object.getPrototypeOf(value)
    if (proto !== Object.prototype && proto !== null) return visit(value, path)
    // Polars' frames look like plain objects but for this symbol.
    if ((value as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] !== undefined)
      return visit(value, path)
  }
  if (path.length === maxDepth) {
    throw new BadInput(`expected at most ${maxDepth} levels in values for a runner, received more`)
  }
  let copy: unknown[] | Record<string, unknown> | undefined
  const names = isList ? undefined : Object.keys(value)
  const { length } = names ?? (value as unknown[])
  // By index: an iterator over a list of numbers takes several times as long.
  for (let i = 0; i < length; i++) {
    const name = names?.[i] ?? i
    const member = (value as Record<string | number, unknown>)[name]
    if (typeof member === 'string' || (typeof member === 'number' && (!isJson || isInJson(member))))
      continue
    path.push(name)
    const next = mapLeaves(member, path, visit, isJson)
    if (next !== member) {
      copy ??= isList ? [...value] : { ...value }
      setMember(copy, name, next)
    }
    path.pop()
  }
  return copy ?? value
}

const isInJson = (value: unknown) =>
  typeof value === 'number' ? Number.isFinite(value) : typeof value !== 'bigint'

function put(root: unknown, path: Path, value: unknown): void {
  let at = root as Record<string | number, unknown>
  for (let i = 0; i < path.length - 1; i++) at = at[path[i]] as typeof at
  setMember(at, path[path.length - 1], value)
}

function packView(view: View, isOwned: boolean, way: Way): View | number {
  const { boundary, transfer, copies, hold } = way
  hold?.(view.byteLength)
  if (boundary === 'none') {
    // The model may use it after its caller's request is over: in a batch with others.
    leaveToCollector(view.buffer)
    return view
  }
  // Copied when the message is sent, in this turn; its index stands in its place.
  if (boundary === 'python') return transfer.push(view) - 1
  if (boundary === 'process' && hold === undefined && view.byteLength > turnBytes) {
    // Sent in pieces; pixels end with their request, which may be over before.
    leaveToCollector(view.buffer)
    transfer.push(view)
    return view
  }
  if (view.buffer instanceof SharedArrayBuffer) return boundary === 'process' ? copyOf(view) : view
  const isWhole = view.byteLength === view.buffer.byteLength
  if (boundary === 'process' || view.byteLength < minMoveBytes) {
    // A clone of a view clones all of its buffer, such as Node's pool.
    return isWhole ? view : copyOf(view)
  }
  let sent = view
  if (copies?.has(view) !== true) sent = isOwned ? detach(view) : copyOf(view, copies)
  transfer.push(sent.buffer as ArrayBuffer)
  return sent
}

function copyOf(view: View, copies?: Copies): View {
  if (copies !== undefined) {
    const Container = Buffer.isBuffer(view) ? Uint8Array : view.constructor
    const memory = copies.allocate(view.byteLength)
    const copy = new (Container as new (memory: ArrayBuffer) => View)(memory)
    // Pixels end with their request, which may be over before.
    if (copies.copy(view, copy)) leaveToCollector(view.buffer)
    return copy
  }
  // A Buffer's own slice would share memory.
  if (Buffer.isBuffer(view)) return new Uint8Array(view) as unknown as View
  if (view instanceof DataView) {
    return new DataView(bytesOf(view).slice().buffer) as unknown as View
  }
  return view.slice()
}

function packBuiltIn(value: unknown, way: Way): unknown {
  if (value instanceof Date || value instanceof RegExp) return value
  if (!(value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)) throw unsendable(value)
  try {
    // A thread that failed to send its reply would die.
    if (value instanceof SharedArrayBuffer) return structuredClone(value)
    return (packView(new Uint8Array(value) as View, false, way) as View).buffer
  } catch (error) {
    throw unsendable(value, error)
  }
}

function unsendable(value: unknown, cause?: unknown): InvalidArgument {
  const what = describe(value)
  return new InvalidArgument(
    `expected data that can be sent to a thread for a runner, received ${what}`,
    { cause },
  )
}

function describe(value: unknown): string {
  return typeof value === 'object' && value !== null
    ? `an object of class ${value.constructor?.name}`
    : show(value)
}
