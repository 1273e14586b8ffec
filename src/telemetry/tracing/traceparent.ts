/** The header `traceparent`. @module */

/** What the header says. */
export interface Traceparent {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * Parses a header; undefined for an invalid one.
 *
 * @see W3C Trace Context, section 3.2.
 */
export function parseTraceparent(header: string): Traceparent | undefined {
  const match = form.exec(header)
  if (match === null) return undefined
  const [, version, traceId, spanId, flags, rest] = match
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** @returns the header of version 00. */
export function formatTraceparent({ traceId, spanId, sampled }: Traceparent): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`
}
