/**
 * The Bearer scheme of the Authorization header.
 * @module
 */
import type { RequestHeaders } from '../http/message.ts'

/** Returns the token; undefined for another scheme or none. **Source**: RFC 6750 section 2.1. */
export function bearerOf(headers: RequestHeaders): string | undefined {
  const value = headers.get('authorization')
  return value === undefined ? undefined : /^Bearer +([\w.~+/=-]+) *$/i.exec(value)?.[1]
}
