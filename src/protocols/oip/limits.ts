/** Limits of a request, so that its work in one piece takes less than a tenth of a second. @module */
import { PayloadTooLarge } from '../../core/errors.ts'

/** Elements of BYTES in the inputs of a request, and classes in its answer. */
export const maxTexts = 100_000
/** **Units**: bytes. */
export const maxGenerateBytes = 4 * 1024 * 1024
/** Greatest elements of a row that a client may ask for. */
export const maxClasses = 1000
/** Elements of the outputs among which the greatest are looked for. */
export const maxClassified = 2_500_000
/** Every element of BYTES in a gRPC message is a field, and every unpacked number. */
export const maxFields = maxTexts + 10_000
/** Integers and booleans in the contents of a gRPC message. */
export const maxIntegers = 2_000_000

/** Counts what a request has of something. */
export class Quota {
  #left: number
  readonly #max: number
  readonly #what: string

  constructor(max: number, what: string) {
    this.#left = max
    this.#max = max
    this.#what = what
  }

  /** **Errors**: PayloadTooLarge. */
  take(count: number): void {
    this.#left -= count
    if (this.#left < 0) throw new PayloadTooLarge(`expected at most ${this.#max} ${this.#what}, received more`)
  }
}

/** Returns the quota of texts of a request. */
export function textQuota(): Quota {
  return new Quota(maxTexts, 'elements of BYTES in a request')
}
