/** Which values a capture must not write. @module */

/** The rest of paths such as `input.users.email`, or with `*` for any name. Of one that ends here it is empty. */
export type Paths = ReadonlySet<string>

/** @returns the rest of paths behind a name, which may have dots. Items of lists need no name. */
export function behind(paths: Paths, name: string): Paths {
  let left = paths
  for (const part of paths.size === 0 ? [] : name.split('.')) {
    const next = new Set<string>()
    for (const path of left) {
      const [first, ...rest] = path.split('.')
      if (path === '' || /^\d+$/.test(part)) next.add(path)
      if (path !== '' && (first === part || first === '*')) next.add(rest.join('.'))
    }
    left = next
  }
  return left
}

/** Whether a text may be JSON, in which paths lead on. */
export function isJsonLike(value: unknown): boolean {
  return typeof value === 'string' && /^\s*["[{]/.test(value)
}

/**
 * @param mark - Called with each name that is left out, without the numbers of items.
 * @returns a value of JSON without what paths end at; undefined for nothing.
 */
export function withoutPaths(
  value: unknown,
  paths: Paths,
  name: string,
  mark: (name: string) => void,
): unknown {
  if (paths.size === 0) return value
  if (paths.has('') || isJsonLike(value)) {
    mark(name)
    return undefined
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const areNumbered = [...paths].some((path) => /^(\d+|\*)(\.|$)/.test(path))
    const itemPaths = (i: number) => (areNumbered ? behind(paths, `${i}`) : paths)
    return value.map((each, i) => withoutPaths(each, itemPaths(i), name, mark))
  }
  const entries = Object.entries(value).map(([key, each]) => {
    return [key, withoutPaths(each, behind(paths, key), `${name}.${key}`, mark)]
  })
  return Object.fromEntries(entries)
}
