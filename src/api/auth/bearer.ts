import { fromCode } from '../../core/option.ts'
import { isHeaderName, type RequestHeaders } from '../../http/message.ts'
import type { SecurityScheme } from '../hooks.ts'

/**
 * @returns the token; undefined without one.
 * @see RFC 6750 section 2.1.
 */
export function bearerOf(headers: RequestHeaders): string | undefined {
  return /^Bearer +([\w.~+/=-]+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
}

const isName = (value: unknown) => typeof value === 'string' && isHeaderName(value)

/** The name of a header. */
export const headerOption = fromCode<string>('the name of a header', isName)

/** The name of a cookie. */
export const cookieOption = fromCode<string>('the name of a cookie', isName)

/** @returns the security scheme of a cookie for documents, if there is one. */
export function cookieScheme(
  name: string | undefined,
  scopes: readonly string[] = [],
): Readonly<Record<string, SecurityScheme>> {
  return name === undefined ? {} : { cookie: { type: 'apiKey', in: 'cookie', name, scopes } }
}
