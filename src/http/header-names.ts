/** Names of request headers that are read, in lower case. */
export type HeaderNames = readonly string[] | 'all'

/** Returns the headers that any of several reads. */
export function joinHeaderNames(...lists: readonly HeaderNames[]): HeaderNames {
  return lists.includes('all') ? 'all' : [...new Set(lists.flat())]
}
