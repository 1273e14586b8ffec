import { checkThat } from '../../core/options.ts'
import { isHeaderName, type RequestHeaders } from '../../http/message.ts'
import type { SecurityScheme } from '../hooks.ts'

/**
 * @returns the token; undefined without one.
 * @see RFC 6750 section 2.1.
 */
export function bearerOf(headers: RequestHeaders): string | undefined {
  const value = headers.get('authorization')
  return value === undefined ? undefined : /^Bearer +([\w.~+/=-]+) *$/i.exec(value)?.[1]
}

/**
 * Checks the option `cookie` of `hook`.
 *
 * @throws InvalidArgument.
 */
export function checkCookie(name: unknown, hook: string): void {
  const isName = typeof name === 'string' && isHeaderName(name)
  checkThat(name === undefined || isName, 'the name of a cookie', `cookie of ${hook}`, name)
}

/** @returns the security scheme of a cookie for documents, if there is one. */
export function cookieScheme(
  name: string | undefined,
  scopes: readonly string[] = [],
): Readonly<Record<string, SecurityScheme>> {
  return name === undefined ? {} : { cookie: { type: 'apiKey', in: 'cookie', name, scopes } }
}
