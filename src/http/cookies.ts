/** Cookies, read and written. The only file that imports cookie. @module */
import { parse } from 'cookie'
import type { RequestHeaders } from './message.ts'

export { type SerializeOptions, serialize } from 'cookie'

/** @returns a cookie's value, percent-decoded; undefined if it is absent or empty. */
export function cookieOf(headers: RequestHeaders, name: string | undefined): string | undefined {
  return (name && parse(headers.get('cookie') ?? '')[name]) || undefined
}
