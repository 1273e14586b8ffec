/** The names that a server is asked by, and the pages that they make its own. @module */

import { expected, Forbidden } from '../core/errors.ts'

/**
 * Whether nobody can point a name at another machine: localhost, and addresses. Whoever owns any other name can let it
 * stand for this machine after a page was loaded, which is then of the same origin as the server (DNS rebinding).
 */
function isFixed(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|\d+(?:\.\d+){3}|\[[\da-f:.]+\])$/i.test(hostname)
}

/**
 * @returns why a request that asks for this Host is refused; `names` are answered beside localhost
 * and addresses.
 */
export function hostFault(
  host: string | undefined,
  names: ReadonlySet<string>,
): Forbidden | undefined {
  if (host === undefined) return undefined
  const name = host.replace(/:\d*$/, '').toLowerCase()
  if (isFixed(name) || names.has(name)) return undefined
  return new Forbidden(
    'expected localhost, an address or one of allowedHosts for host, received another one',
  )
}

/**
 * Whether a page of this origin came from this server. `isChecked`: whether the Host was compared with a list. A page
 * over TLS is of the name in the certificate.
 */
export function isOwnPage(origin: string, host: string | undefined, isChecked: boolean): boolean {
  if (!URL.canParse(origin)) return false
  const page = new URL(origin)
  if (page.host !== host?.toLowerCase()) return false
  return isChecked || page.protocol === 'https:' || isFixed(page.hostname)
}

/**
 * @returns why a page may not ask: it is neither of this host nor of one of the origins, of which
 * `*` is all.
 */
export function originFault(
  origin: string,
  host: string | undefined,
  origins: readonly string[],
): Forbidden | undefined {
  if (origins.includes('*') || origins.includes(origin)) return undefined
  // A page of another origin would send the visitor's cookies.
  if (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()) return undefined
  return new Forbidden(
    expected('a page of this host, or of one of its origins,', 'origin', origin.slice(0, 80)),
  )
}
