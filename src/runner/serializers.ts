/** How objects of classes cross to other threads and processes: as named fields. @module */

import { InvalidArgument } from '../core/errors.ts'
import { BinaryFile, type BinaryFileOptions } from '../core/file/binary-file.ts'
import type { Copies } from '../core/memory/copies.ts'
import { checkThat } from '../core/options.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { sizeOf } from '../values/array/shape.ts'
import { RasterImage } from '../values/image/raster.ts'
import type { Column } from '../values/table/columns.ts'
import { getLabels, setLabels } from '../values/table/polars/labels.ts'
import { loadPolars } from '../values/table/polars/polars.ts'
import type { DataFrame, Series } from '../values/table/polars/polars-package.ts'
import { type ErrorFields, errorFields, errorFromFields } from './remote-error.ts'

/** Plain data, typed arrays, and objects with a serializer. */
export type SerializedFields = Readonly<Record<string, unknown>>

/** How the objects of a class cross to a runner's threads and processes, and back. */
export interface Serializer<T extends object> {
  readonly name: string
  /** The class, or the `Symbol.toStringTag` of its objects. */
  readonly type: (abstract new (...args: never[]) => T) | string
  /**
   * Properties whose typed arrays `move(object)` may take away: reading them then throws.
   *
   * @default `move` refuses
   */
  readonly movable?: readonly string[]
  /** Whether `toFields` makes its typed arrays for the message, to move without a copy. Default false. */
  readonly fresh?: boolean
  /** @throws InvalidArgument for an object that cannot be sent. */
  toFields(value: T): SerializedFields
  /** @internal As `toFields`, with memory that is filled later; undefined for a value that is in memory already. */
  toFieldsLater?(value: T, copies: Copies): SerializedFields | undefined
  fromFields(fields: SerializedFields): T
}

const byName = new Map<string, Serializer<object>>()
const byType = new Map<unknown, Serializer<object>>()

/**
 * Lets a class's objects be a runner's arguments and results. Call it in a module that both the
 * service and the model import.
 *
 * @throws InvalidArgument for a registered name or class, and for an invalid serializer.
 * @example
 * `registerSerializer<Box>({ name: 'Box', type: Box, toFields: ({ label }) => ({ label }),
 * fromFields })`
 */
export function registerSerializer<T extends object>(serializer: Serializer<T>): void {
  const { name, type, toFields, fromFields } = (serializer ?? {}) as Partial<Serializer<T>>
  const isNamed = typeof name === 'string' && ['function', 'string'].includes(typeof type)
  checkThat(isNamed, 'a name and a class', 'registerSerializer', name ?? serializer)
  const isWhole = typeof toFields === 'function' && typeof fromFields === 'function'
  checkThat(isWhole, 'functions toFields and fromFields', `the serializer ${name}`, toFields)
  if (byName.has(name))
    throw new InvalidArgument(`a serializer named ${name} is registered already`)
  if (byType.has(type))
    throw new InvalidArgument(`the class of the serializer ${name} has a serializer already`)
  byName.set(name, serializer as unknown as Serializer<object>)
  byType.set(type, serializer as unknown as Serializer<object>)
}

/** @returns the serializer of the nearest class; undefined without such a class, and for other values. */
export function serializerOf(value: unknown): Serializer<object> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const exact = byType.get(value.constructor) ?? byType.get(tagOf(value))
  if (exact !== undefined) return exact
  let proto = Object.getPrototypeOf(value)
  while (proto !== null) {
    proto = Object.getPrototypeOf(proto)
    const inherited = byType.get(proto?.constructor)
    if (inherited !== undefined) return inherited
  }
  // An object of another copy of the package in this thread.
  return byName.get(value.constructor?.name)
}

/** Polars' Series has a function as its `Symbol.toStringTag`. */
function tagOf(value: object): unknown {
  const tag = (value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]
  return typeof tag === 'function' ? tag.call(value) : tag
}

/** @throws InvalidArgument if this side does not have the serializer. */
export function serializerNamed(name: string): Serializer<object> {
  const serializer = byName.get(name)
  if (serializer !== undefined) return serializer
  const remedy = "the service and the model's module both have to register it"
  throw new InvalidArgument(`no serializer named ${name} is registered on this side: ${remedy}`)
}

registerSerializer<NDArray>({
  name: 'NDArray',
  type: NDArray,
  toFields({ data, shape, dtype }) {
    if (data.length !== sizeOf(shape)) {
      throw new InvalidArgument(
        'the data of this NDArray is gone: another array that shares it was moved',
      )
    }
    return { data, shape, dtype }
  },
  movable: ['data'],
  fromFields: ({ data, shape, dtype }) =>
    new NDArray(data as Float32Array, shape as number[], dtype as 'float32'),
})

registerSerializer<Error>({
  name: 'Error',
  type: Error,
  toFields: (error) => ({ ...errorFields(error) }),
  fromFields: (fields) => errorFromFields(fields as unknown as ErrorFields),
})

registerSerializer<URL>({
  name: 'URL',
  type: URL,
  toFields: ({ href }) => ({ href }),
  fromFields: ({ href }) => new URL(href as string),
})

registerSerializer<Map<unknown, unknown>>({
  name: 'Map',
  type: Map,
  toFields: (map) => ({ entries: [...map] }),
  fromFields: ({ entries }) => new Map(entries as [unknown, unknown][]),
})

registerSerializer<Set<unknown>>({
  name: 'Set',
  type: Set,
  toFields: (set) => ({ values: [...set] }),
  fromFields: ({ values }) => new Set(values as unknown[]),
})

registerSerializer<RasterImage>({
  name: 'RasterImage',
  type: RasterImage,
  movable: ['data'],
  toFields: ({ mode, width, height, data, palette }) => ({ mode, width, height, data, palette }),
  fromFields(fields) {
    const { mode, width, height, data, palette } = fields as unknown as RasterImage
    return new RasterImage(mode, width, height, data, palette)
  },
})

registerSerializer<BinaryFile>({
  name: 'BinaryFile',
  type: BinaryFile,
  toFields: ({ name, mimeType, bytes }) => ({ name, mimeType, bytes }),
  toFieldsLater(file, copies) {
    const { name, mimeType, size } = file
    if (!file.isSpooled) return undefined
    const bytes = new Uint8Array(copies.allocate(size))
    copies.fill(() => readInto(bytes, file))
    return { name, mimeType, bytes }
  },
  fromFields({ bytes, ...options }) {
    return new BinaryFile(bytes as Uint8Array, options as BinaryFileOptions)
  },
})

registerSerializer<DataFrame>({
  name: 'DataFrame',
  type: 'DataFrame',
  fresh: true,
  toFields: (frame) => ({ data: polars().writeIpc(frame), labels: getLabels(frame) }),
  fromFields: ({ data, labels }) => labelled(polars().readIpc(data as Uint8Array), labels),
})

registerSerializer<Series>({
  name: 'Series',
  type: 'Series',
  fresh: true,
  toFields: (series) => ({
    data: polars().writeIpc(polars().frameOf(series)),
    labels: getLabels(series),
  }),
  fromFields: ({ data, labels }) =>
    labelled(polars().seriesOf(polars().readIpc(data as Uint8Array)), labels),
})

async function readInto(bytes: Uint8Array, file: BinaryFile): Promise<void> {
  let at = 0
  for await (const piece of file.stream()) {
    bytes.set(piece, at)
    at += piece.length
  }
}

function polars() {
  return loadPolars('a Runner')
}

function labelled<T extends object>(value: T, labels: unknown): T {
  setLabels(value, labels as Column | undefined)
  return value
}
