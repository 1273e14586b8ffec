/** Which pages the search of the site finds. `test/docs/search.test.ts` asks it. */

/** Whether readers of the site may look for a page: not decisions and internals, which are for contributors. */
export function isSearched(page: string): boolean {
  return !/^(?:adr|internals)\//.test(page)
}
