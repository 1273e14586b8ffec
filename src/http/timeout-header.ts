/** `grpc-timeout`: how long a client waits, over gRPC and over HTTP. @module */

/** A number of at most 8 digits and a unit. */
export const timeoutHeader = 'grpc-timeout'

const msOfUnit: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
}

/**
 * **Units**: milliseconds.
 *
 * @returns the time that the header states: NaN for another text, Infinity without one.
 * @see gRPC's PROTOCOL-HTTP2.md.
 */
export function readTimeout(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY
  const match = /^(\d{1,8})\s*([HMSmun])$/.exec(text)
  return match === null ? Number.NaN : Math.trunc(Number(match[1]) * msOfUnit[match[2]])
}

/** @returns the header for a request that another server should answer by then; empty without a deadline. */
export function timeoutLines(deadlineMs: number | undefined): Readonly<Record<string, string>> {
  if (deadlineMs === undefined) return {}
  const leftMs = Math.max(1, Math.ceil(deadlineMs - Date.now()))
  return leftMs < 1e8 ? { [timeoutHeader]: `${leftMs}m` } : {}
}
