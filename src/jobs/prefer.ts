import type { RequestHeaders } from '../http/message.ts'

/**
 * Reads `Prefer: respond-async, wait=10`; a malformed preference counts as absent.
 *
 * @see RFC 7240.
 */
export function preferenceOf(headers: RequestHeaders) {
  const given = (headers.get('prefer') ?? '').split(',').map((each) => each.trim().toLowerCase())
  const isAsync = given.includes('respond-async')
  const wait = given
    .map((each) => /^wait="?(\d{1,6})"?$/.exec(each)?.[1])
    .find((each) => each !== undefined)
  const applied = [
    ...(isAsync ? ['respond-async'] : []),
    ...(wait === undefined ? [] : [`wait=${wait}`]),
  ].join(', ')
  return { isAsync, waitMs: Number(wait ?? 0) * 1000, applied }
}
