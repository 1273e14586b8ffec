/** Which values a capture must not write. @module */

/** A name of a path, and those behind it. */
interface Step {
  readonly name: string
  readonly next: Step | undefined
}

/** The ends of paths that lead through a value. Undefined: one of them ends there. */
export type Paths = ReadonlySet<Step | undefined>

/** @returns paths such as `input.users.email`, or with `*` for any name. */
export function pathsOf(texts: readonly string[]): Paths {
  const steps = (text: string) =>
    text.split('.').reduceRight<Step | undefined>((next, name) => ({ name, next }), undefined)
  return new Set(texts.map(steps))
}

/** @returns the ends of paths behind a name, which may have dots. Items of lists need no name. */
export function behind(paths: Paths, name: string): Paths {
  if (paths.size === 0) return paths
  let left = paths
  for (const part of name.split('.')) {
    const isItem = /^\d+$/.test(part)
    const next = new Set<Step | undefined>()
    for (const step of left) {
      if (step === undefined || isItem) next.add(step)
      if (step?.name === part || step?.name === '*') next.add(step.next)
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
  if (paths.has(undefined) || isJsonLike(value)) {
    mark(name)
    return undefined
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const areNumbered = [...paths].some((step) => /^(\d+|\*)$/.test(step?.name ?? ''))
    const itemPaths = (i: number) => (areNumbered ? behind(paths, `${i}`) : paths)
    return value.map((each, i) => withoutPaths(each, itemPaths(i), name, mark))
  }
  const entries = Object.entries(value).map(([key, each]) => {
    return [key, withoutPaths(each, behind(paths, key), `${name}.${key}`, mark)]
  })
  return Object.fromEntries(entries)
}
