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

/**
 * Takes from what a request may have of something.
 *
 * @throws PayloadTooLarge.
 */
export type Quota = (count: number) => void

/** @returns the quota of at most `max` of `what`. */
export function quotaOf(max: number, what: string): Quota {
  let left = max
  return (count) => {
    left -= count
    if (left < 0) throw new PayloadTooLarge(`expected at most ${max} ${what}, received more`)
  }
}

/** @returns the quota of texts of a request. */
export function textQuota(): Quota {
  return quotaOf(maxTexts, 'elements of BYTES in a request')
}
