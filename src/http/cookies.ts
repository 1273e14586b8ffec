/** Cookies, read and written. The only file that imports cookie. @module */
import { parse } from 'cookie'
import type { RequestHeaders } from './message.ts'

export { type SerializeOptions, serialize } from 'cookie'

/** Returns the value of a request's cookie, percent-decoded; undefined where there is none or it is empty. */
export function cookieOf(headers: RequestHeaders, name: string): string | undefined {
  const value = headers.get('cookie')
  return value === undefined ? undefined : parse(value)[name] || undefined
}
