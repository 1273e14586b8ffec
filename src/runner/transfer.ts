/**
 * Values cross threads: large buffers are moved, small ones copied, and classes stay what they were.
 *
 * A structured clone copies a large buffer several times (while it is serialised, and once more at the end) and turns an
 * NDArray into a plain object. Here a buffer is moved where it may be: it has to be the whole of its ArrayBuffer, since moving
 * detaches everything that shares it, such as Node's pool of small Buffers.
 * @module
 */
import { BadInput, InvalidArgument, show } from '../errors.ts'
import { type Fields, serializerNamed, serializerOf } from './serializers.ts'

/** Buffers from this size are moved. Below, a copy is as fast and leaves the caller its own. **Units**: bytes. */
export const minMoveBytes = 16 * 1024

/** A value that can be sent: plain data, and what its objects of known classes were made of. */
export interface Packed {
  readonly value: unknown
  /** Objects to put back, each with its path in `value`; a path of length 0 is the value itself. */
  readonly carried?: readonly Carried[]
}

type Path = readonly (string | number)[]
type Carried = readonly [path: Path, name: string, fields: Fields]
type View = ArrayBufferView<ArrayBufferLike> & { slice(): View }
type Visit = (leaf: unknown, path: Path) => unknown

/**
 * A value becomes one that can be sent. Buffers to move are added to `transfer`; without it, every buffer is copied.
 *
 * Plain objects, arrays, typed arrays, dates, maps and sets cross as themselves; objects of other classes need a serializer. A
 * typed array outside of a serializer's object is copied, once, and stays the caller's: nothing could say later where it went.
 *
 * **Errors**: InvalidArgument for functions, symbols and objects of unknown classes; BadInput for deep nesting.
 * **Cost**: visits every object in the value, and copies containers only on the way to what has to be replaced.
 */
export function pack(value: unknown, transfer?: ArrayBuffer[]): Packed {
  const carried: Carried[] = []
  const plain = mapLeaves(value, [], (leaf, path) => {
    if (ArrayBuffer.isView(leaf)) return packView(leaf as View, false, transfer)
    const serializer = typeof leaf === 'object' && leaf !== null ? serializerOf(leaf) : undefined
    if (serializer === undefined) return packBuiltIn(leaf)
    const fields: Record<string, unknown> = { ...serializer.toFields(leaf as object) }
    for (const name in fields) {
      const field = fields[name]
      if (ArrayBuffer.isView(field)) fields[name] = packView(field as View, serializer.buffers !== 'kept', transfer)
    }
    carried.push([[...path], serializer.name, fields])
    return null
  })
  return carried.length === 0 ? { value: plain } : { value: plain, carried }
}

/** What was sent becomes the value. */
export function unpack({ value, carried }: Packed): unknown {
  if (carried === undefined) return value
  let result = value
  for (const [path, name, fields] of carried) {
    const object = serializerNamed(name).fromFields(fields)
    if (path.length === 0) result = object
    else put(result, path, object)
  }
  return result
}

/**
 * Takes a value over from the caller. What is returned has the same data; of `value` itself, objects with large buffers are
 * given up: reading those buffers throws from now on. With `keep`, they are copied and stay the caller's.
 *
 * Which objects are given up follows from sizes alone, never from what a batch or a queue does with them later. Memory that is
 * shared (SharedArrayBuffer) crosses as it is and stays everybody's. Small buffers are copied when they are sent: leave them unchanged until the
 * answer is there.
 */
export function claim(value: unknown, owner: string, keep = false): unknown {
  return mapLeaves(value, [], (leaf) => {
    const serializer = typeof leaf === 'object' && leaf !== null ? serializerOf(leaf) : undefined
    if (serializer === undefined || (serializer.buffers ?? 'given') !== 'given') return leaf
    const fields = serializer.toFields(leaf as object)
    const large = Object.keys(fields).filter((name) => isLarge(fields[name]))
    if (large.length === 0) return leaf
    const own = { ...fields }
    for (const name of large) {
      if (keep) own[name] = copyOf(fields[name] as View)
      else seal(leaf as object, name, owner)
    }
    return serializer.fromFields(own)
  })
}

function seal(object: object, name: string, owner: string): void {
  // Another object may say what this one is made of under a name that it does not have itself.
  if (!Object.hasOwn(object, name) || Object.isFrozen(object)) return
  const get = () => {
    const what = `the ${name} of this ${object.constructor.name} has`
    throw new InvalidArgument(`${what} gone to ${owner} and cannot be used here any more; { keep: true } sends a copy`)
  }
  Object.defineProperty(object, name, { get, enumerable: true, configurable: true })
}

const maxDepth = 1_000

/** The value with each leaf (a view, an object of a class, a function) replaced; the same value when nothing was. */
function mapLeaves(value: unknown, path: (string | number)[], visit: Visit): unknown {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'function' || typeof value === 'symbol' ? visit(value, path) : value
  }
  const isList = Array.isArray(value)
  if (!isList) {
    const proto = Object.getPrototypeOf(value)
    if (proto !== Object.prototype && proto !== null) return visit(value, path)
    // Polars' frames look like plain objects but for this. No name that comes in JSON is a symbol.
    if ((value as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] !== undefined) return visit(value, path)
  }
  if (path.length === maxDepth) {
    throw new BadInput(`expected at most ${maxDepth} levels for what is sent to a runner, received more`)
  }
  let copy: unknown[] | Record<string, unknown> | undefined
  const names = isList ? value.keys() : Object.keys(value)
  for (const name of names) {
    const member = (value as Record<string | number, unknown>)[name]
    if (typeof member === 'number' || typeof member === 'string') continue
    path.push(name)
    const next = mapLeaves(member, path, visit)
    if (next !== member) {
      copy ??= isList ? [...value] : { ...value }
      define(copy, name, next)
    }
    path.pop()
  }
  return copy ?? value
}

function put(root: unknown, path: Path, value: unknown): void {
  let at = root as Record<string | number, unknown>
  for (let i = 0; i < path.length - 1; i++) at = at[path[i]] as typeof at
  define(at, path[path.length - 1], value)
}

function define(target: object, name: string | number, value: unknown): void {
  // An ordinary name in a client's data. Of the others, an assignment takes 5 ns instead of 120.
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true })
  } else (target as Record<string | number, unknown>)[name] = value
}

function isLarge(value: unknown): boolean {
  return ArrayBuffer.isView(value) && value.byteLength >= minMoveBytes && value.buffer instanceof ArrayBuffer
}

function packView(view: View, isOwned: boolean, transfer: ArrayBuffer[] | undefined): View {
  // A child process does not share memory with us.
  if (view.buffer instanceof SharedArrayBuffer) return transfer === undefined ? copyOf(view) : view
  const isWhole = view.byteLength === view.buffer.byteLength
  if (transfer === undefined || view.byteLength < minMoveBytes) {
    // A clone of a view clones all of its buffer: of a few bytes in Node's pool, 8 KiB.
    return isWhole ? view : copyOf(view)
  }
  const own = isOwned && isWhole ? view : copyOf(view)
  const buffer = own.buffer as ArrayBuffer
  if (!transfer.includes(buffer)) transfer.push(buffer)
  return own
}

/** A copy with an ArrayBuffer of its own. */
function copyOf(view: View): View {
  // A Buffer's own slice would share memory; what arrives at the other side is a Uint8Array in any case.
  if (Buffer.isBuffer(view)) return new Uint8Array(view) as unknown as View
  if (view instanceof DataView) {
    return new DataView(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength)) as unknown as View
  }
  if (view.buffer instanceof SharedArrayBuffer) {
    return new (view.constructor as new (from: View) => View)(view)
  }
  return view.slice()
}

function packBuiltIn(value: unknown): unknown {
  if (value instanceof Date || value instanceof RegExp) return value
  const isBuiltIn =
    value instanceof Map || value instanceof Set || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer
  if (!isBuiltIn) throw unsendable(value)
  try {
    // Checked here: a thread that failed to send its reply would die of it.
    return structuredClone(value)
  } catch (error) {
    throw unsendable(value, error)
  }
}

function unsendable(value: unknown, cause?: unknown): InvalidArgument {
  const what =
    typeof value === 'object' && value !== null ? `an object of class ${value.constructor?.name}` : show(value)
  return new InvalidArgument(`expected data that can be sent to a thread for a runner, received ${what}`, { cause })
}
