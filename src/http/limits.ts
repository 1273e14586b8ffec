/** Refusals for the sake of others: slots that are taken, too little memory, too large a body. @module */

import { expected, Overloaded, PayloadTooLarge } from '../core/errors.ts'

/** How many requests of an endpoint may run at a time. */
export interface EndpointSlots {
  readonly isFull: boolean
  /** False if all are taken. */
  acquire(): boolean
  /** Called exactly once for each slot taken. */
  release(): void
  /** Called for each refusal. **Units**: whole seconds. */
  retryAfterSeconds(): number
}

/** @returns the refusal of a request when all of these slots are taken. */
export function tooMany(slots: EndpointSlots): Overloaded {
  const retryAfterSeconds = slots.retryAfterSeconds()
  return new Overloaded('too many requests in flight', { limit: 'in_flight', retryAfterSeconds })
}

/** @returns the refusal of a request that needs more memory than is left. */
export function noMemory(): Overloaded {
  return new Overloaded('too little memory for another large body or answer', { limit: 'memory' })
}

/**
 * `declared`: Content-Length, if it has one.
 *
 * @returns the refusal of a body that is too large.
 */
export function tooLarge(
  limits: { readonly maxBodyBytes: number },
  declared?: number,
): PayloadTooLarge {
  const limit = `at most ${limits.maxBodyBytes} bytes`
  return new PayloadTooLarge(
    declared === undefined
      ? `expected ${limit} for the body, received more`
      : expected(limit, 'the body', declared),
  )
}
