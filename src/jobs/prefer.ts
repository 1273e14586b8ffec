import type { RequestHeaders } from '../http/message.ts'

/** What a client prefers. **Source**: RFC 7240. */
export interface Preference {
  readonly isAsync: boolean
  /** How long the answer may take before it is 202. **Units**: milliseconds. */
  readonly waitMs: number
  /** What `Preference-Applied` says. */
  readonly applied: string
}

/** Reads `Prefer: respond-async, wait=10`. A malformed preference counts as absent. */
export function preferenceOf(headers: RequestHeaders): Preference {
  const given = (headers.get('prefer') ?? '').split(',').map((each) => each.trim().toLowerCase())
  const isAsync = given.includes('respond-async')
  const wait = given.map((each) => /^wait="?(\d{1,6})"?$/.exec(each)?.[1]).find((each) => each !== undefined)
  const applied = [...(isAsync ? ['respond-async'] : []), ...(wait === undefined ? [] : [`wait=${wait}`])].join(', ')
  return { isAsync, waitMs: Number(wait ?? 0) * 1000, applied }
}
