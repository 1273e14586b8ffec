import { checkThat } from '../core/options.ts'
import { type AnyDescriptor, IODescriptor } from './descriptor.ts'

/** How often a part may come. */
export type Occurrence = 'one' | 'optional' | 'many'

/** A part's descriptor and how often the part may come; made by {@link many} and {@link optional}. */
export class PartRule<D extends AnyDescriptor = AnyDescriptor, O extends Occurrence = Occurrence> {
  readonly descriptor: D
  readonly occurrence: O

  /** @throws InvalidArgument for a value that is not a descriptor. */
  constructor(descriptor: D, occurrence: O) {
    checkThat(
      (descriptor as unknown) instanceof IODescriptor,
      'an IODescriptor',
      `io.${occurrence}`,
      descriptor,
    )
    this.descriptor = descriptor
    this.occurrence = occurrence
  }
}

/**
 * Declares a part that may come any number of times: a list, in order.
 *
 * @example
 * `io.many(new io.Image())`
 */
export function many<D extends AnyDescriptor>(descriptor: D): PartRule<D, 'many'> {
  return new PartRule(descriptor, 'many')
}

/**
 * Declares a part that may be left out: its value may be undefined.
 *
 * @example
 * `io.optional(new io.Text())`
 */
export function optional<D extends AnyDescriptor>(descriptor: D): PartRule<D, 'optional'> {
  return new PartRule(descriptor, 'optional')
}
