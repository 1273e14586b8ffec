/**
 * How objects of classes cross threads: as named fields. Each class that may cross is registered here.
 * @module
 */

import { NDArray } from '../array/ndarray.ts'
import { sizeOf } from '../array/shape.ts'
import { InvalidArgument } from '../errors.ts'
import { BinaryFile } from '../file/binary-file.ts'
import type { Column } from '../frame/columns.ts'
import { keepLabels, keptLabels } from '../frame/labels.ts'
import { loadPolars } from '../frame/polars.ts'
import type { DataFrame, Series } from '../frame/polars-package.ts'
import { RasterImage } from '../image/raster.ts'
import { type ErrorFields, errorFields, errorFromFields } from './remote-error.ts'

/** What an object is made of: plain data and typed arrays. */
export type Fields = Readonly<Record<string, unknown>>

/** How the objects of a class cross. */
export interface Serializer<T extends object> {
  /** The same on both sides. */
  readonly name: string
  /** Its class, or what its objects say as their `Symbol.toStringTag`, for those that have no class to be told by. */
  readonly type: (abstract new (...args: never[]) => T) | string
  /**
   * Whose the typed arrays among the fields are. `given` (default): the object's, which gives large ones up. `kept`: the object's, which
   * keeps them; they are copied, once. `made`: made by `toFields` for the purpose, and moved.
   */
  readonly buffers?: 'given' | 'kept' | 'made'
  /** **Errors**: InvalidArgument for one that cannot be sent. */
  toFields(value: T): Fields
  fromFields(fields: Fields): T
}

const byName = new Map<string, Serializer<object>>()
const byType = new Map<unknown, Serializer<object>>()

/** Lets the objects of a class cross, subclasses as that class. Both sides have to register it. */
export function registerSerializer<T extends object>(serializer: Serializer<T>): void {
  byName.set(serializer.name, serializer as unknown as Serializer<object>)
  byType.set(serializer.type, serializer as unknown as Serializer<object>)
}

/** The serializer of an object's class; undefined when it has none. */
export function serializerOf(value: object): Serializer<object> | undefined {
  const exact = byType.get(value.constructor) ?? byType.get(tagOf(value))
  if (exact !== undefined) return exact
  for (const serializer of byType.values()) {
    if (typeof serializer.type !== 'string' && value instanceof serializer.type) return serializer
  }
  // Of another copy of the package in this thread: its class has the same name and members.
  return byName.get(value.constructor?.name)
}

/** What an object says of itself beside its class. Polars' Series says it by a function, against the language's rule. */
function tagOf(value: object): unknown {
  const tag = (value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]
  return typeof tag === 'function' ? tag.call(value) : tag
}

/** The serializer of that name. **Errors**: InvalidArgument when this side does not have it. */
export function serializerNamed(name: string): Serializer<object> {
  const serializer = byName.get(name)
  if (serializer === undefined) throw new InvalidArgument(`no serializer named ${name} is registered on this side`)
  return serializer
}

registerSerializer<NDArray>({
  name: 'NDArray',
  type: NDArray,
  toFields({ data, shape, dtype }) {
    if (data.length !== sizeOf(shape)) {
      throw new InvalidArgument('the data of this NDArray has gone to a runner, through another array that shares it')
    }
    return { data, shape, dtype }
  },
  fromFields: ({ data, shape, dtype }) => new NDArray(data as Float32Array, shape as number[], dtype as 'float32'),
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

registerSerializer<RasterImage>({
  name: 'RasterImage',
  type: RasterImage,
  toFields: ({ mode, width, height, data }) => ({ mode, width, height, data }),
  fromFields: ({ mode, width, height, data }) =>
    new RasterImage(mode as RasterImage['mode'], width as number, height as number, data as Uint8Array),
})

registerSerializer<BinaryFile>({
  name: 'BinaryFile',
  type: BinaryFile,
  // Its stream reads the bytes, too: it could not say where they went.
  buffers: 'kept',
  toFields: ({ name, mimeType, bytes }) => ({ name, mimeType, bytes }),
  fromFields: ({ name, mimeType, bytes }) =>
    new BinaryFile(bytes as Uint8Array, {
      mimeType: mimeType as string,
      ...(name === undefined ? {} : { name: name as string }),
    }),
})

// Frames as Arrow files, with their labels beside them. Whoever has a frame has Polars.
registerSerializer<DataFrame>({
  name: 'DataFrame',
  type: 'DataFrame',
  buffers: 'made',
  toFields: (frame) => ({ ipc: loadPolars('a Runner').writeIpc(frame), labels: keptLabels(frame) }),
  fromFields({ ipc, labels }) {
    const frame = loadPolars('a Runner').readIpc(ipc as Uint8Array)
    keepLabels(frame, labels as Column | undefined)
    return frame
  },
})

registerSerializer<Series>({
  name: 'Series',
  type: 'Series',
  buffers: 'made',
  toFields(series) {
    const polars = loadPolars('a Runner')
    return { ipc: polars.writeIpc(polars.frameOf(series)), labels: keptLabels(series) }
  },
  fromFields({ ipc, labels }) {
    const polars = loadPolars('a Runner')
    const series = polars.seriesOf(polars.readIpc(ipc as Uint8Array))
    keepLabels(series, labels as Column | undefined)
    return series
  },
})
