import type { Endpoint } from '../api/endpoint.ts'
import type { PageEntry } from '../api/page-entry.ts'
import { documentEndpoint } from './openapi/docs-endpoint.ts'
import { pathBelow } from './openapi/protocol-paths.ts'

/** @returns the endpoint of what the page shows beside the OpenAPI document. */
export function pageDataEndpoint(
  prefix: string,
  entries: readonly PageEntry[],
  others: readonly Endpoint[],
): Endpoint {
  return documentEndpoint(`${prefix}/docs/page.json`, () => ({
    hasCalls: others.some(({ path }) => path === `${prefix}/docs/calls`),
    entries: entries.map((entry) => entryBelow(prefix, entry)),
  }))
}

/** @returns an entry whose path is below the base URL, or at the root of the server, as in the document. */
export function entryBelow(prefix: string, entry: PageEntry) {
  const below = pathBelow(prefix, entry.path)
  return { ...entry, isRoot: below === undefined, path: below ?? entry.path }
}
