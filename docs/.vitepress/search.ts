/** Which pages the search of the site finds. `test/docs/search.test.ts` asks it. */

/**
 * Whether readers of the site may look for a page: not decisions and internals, which are for contributors, and not the
 * API, whose hundreds of names would come before the guides.
 */
export function isSearched(page: string): boolean {
  return !/^(?:adr|api|internals)\//.test(page)
}
