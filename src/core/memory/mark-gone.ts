/** Properties whose memory is gone. @module */
import { InvalidArgument } from '../errors.ts'

/** Replaces a property of an object by one that throws InvalidArgument with this message when it is read. */
export function markGone(object: object, name: string, message: string): void {
  const get = () => {
    throw new InvalidArgument(message)
  }
  Object.defineProperty(object, name, { get, enumerable: true, configurable: true })
}
