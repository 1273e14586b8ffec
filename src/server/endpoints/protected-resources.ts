/**
 * Where clients get tokens for a service.
 *
 * @see RFC 9728.
 * @module
 */

import { type Endpoint, getPage } from '../../api/endpoint.ts'
import { metadataUrlOf, type ProtectedResource } from '../../api/hooks.ts'
import type { Access } from '../../api/visit.ts'

const access: Access = { kind: 'open', because: 'who has no token learns here where to get one' }
const headers = [
  ['content-type', 'application/json'],
  // Clients in browsers look here before they have a token.
  ['access-control-allow-origin', '*'],
] as const

/** @returns the metadata of each resource, at the address that its URL gives. */
export function resourceEndpoints(resources: Iterable<ProtectedResource>): Endpoint[] {
  const byPath = new Map<string, Endpoint>()
  for (const { resource, issuers, scopes } of resources) {
    const body = JSON.stringify({
      resource,
      authorization_servers: issuers,
      bearer_methods_supported: ['header'],
      ...(scopes.length > 0 && { scopes_supported: scopes }),
    })
    const { pathname } = metadataUrlOf(resource)
    byPath.set(
      pathname,
      getPage(pathname, access, [], () => ({ headers, body })),
    )
  }
  return [...byPath.values()]
}
