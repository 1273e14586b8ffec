/**
 * How often a part of a form may come: once, unless a rule says otherwise.
 * @module
 */
import { expected, InvalidArgument } from '../core/errors.ts'
import { type AnyDescriptor, IODescriptor } from './descriptor.ts'

/** How often a part may come. */
export type Occurrence = 'one' | 'optional' | 'many'

/** A descriptor of a part and how often the part may come; made by {@link many} and {@link optional}. */
export class PartRule<D extends AnyDescriptor = AnyDescriptor, O extends Occurrence = Occurrence> {
  readonly descriptor: D
  readonly occurrence: O

  /** **Errors**: InvalidArgument for a value that is not a descriptor. */
  constructor(descriptor: D, occurrence: O) {
    if (!((descriptor as unknown) instanceof IODescriptor)) {
      throw new InvalidArgument(expected('an IODescriptor', `io.${occurrence}`, descriptor))
    }
    this.descriptor = descriptor
    this.occurrence = occurrence
  }
}

/**
 * Declares a part that may come any number of times. The function receives a list, in the order of arrival, and may
 * return one.
 * **Example** `new io.Multipart({ images: io.many(new io.Image()) })`
 */
export function many<D extends AnyDescriptor>(descriptor: D): PartRule<D, 'many'> {
  return new PartRule(descriptor, 'many')
}

/**
 * Declares a part that may be left out. The function then receives undefined, and may return no value.
 * **Example** `new io.Multipart({ image: new io.Image(), note: io.optional(new io.Text()) })`
 */
export function optional<D extends AnyDescriptor>(descriptor: D): PartRule<D, 'optional'> {
  return new PartRule(descriptor, 'optional')
}
