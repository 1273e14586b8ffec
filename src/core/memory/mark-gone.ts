import { InvalidArgument } from '../errors.ts'

/** Replaces a property by one that throws InvalidArgument with this message if it is read. */
export function markGone(object: object, name: string, message: string): void {
  const get = () => {
    throw new InvalidArgument(message)
  }
  Object.defineProperty(object, name, { get, enumerable: true, configurable: true })
}
