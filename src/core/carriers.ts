/**
 * How objects of classes cross threads: as named fields. Each class that may cross is registered here.
 * @module
 */
import { NDArray } from '../data/ndarray.ts'
import { sizeOf } from '../data/shape.ts'
import { InvalidArgument } from '../errors.ts'
import { type ErrorFields, errorFields, errorFromFields } from './remote-error.ts'

/** What an object is made of: plain data and typed arrays. */
export type Fields = Readonly<Record<string, unknown>>

/** How the objects of a class cross. */
export interface Carrier<T extends object> {
  /** The same on both sides. */
  readonly name: string
  readonly type: abstract new (...args: never[]) => T
  /** **Errors**: InvalidArgument for one that cannot be sent. */
  toFields(value: T): Fields
  fromFields(fields: Fields): T
}

const byName = new Map<string, Carrier<object>>()
const byType = new Map<unknown, Carrier<object>>()

/** Lets the objects of a class cross, subclasses as that class. Both sides have to register it. */
export function registerCarrier<T extends object>(carrier: Carrier<T>): void {
  byName.set(carrier.name, carrier as unknown as Carrier<object>)
  byType.set(carrier.type, carrier as unknown as Carrier<object>)
}

/** The carrier of an object's class; undefined when it has none. */
export function carrierOf(value: object): Carrier<object> | undefined {
  const exact = byType.get(value.constructor)
  if (exact !== undefined) return exact
  for (const carrier of byType.values()) if (value instanceof carrier.type) return carrier
  // Of another copy of the package in this thread: its class has the same name and members.
  return byName.get(value.constructor?.name)
}

/** The carrier of that name. **Errors**: InvalidArgument when this side does not have it. */
export function carrierNamed(name: string): Carrier<object> {
  const carrier = byName.get(name)
  if (carrier === undefined) throw new InvalidArgument(`no carrier named ${name} is registered on this side`)
  return carrier
}

registerCarrier<NDArray>({
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

registerCarrier<Error>({
  name: 'Error',
  type: Error,
  toFields: (error) => ({ ...errorFields(error) }),
  fromFields: (fields) => errorFromFields(fields as unknown as ErrorFields),
})
