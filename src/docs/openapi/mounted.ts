import type { Mount } from '../../api/mount.ts'
import { recordOf } from '../../core/options.ts'

type Members = Readonly<Record<string, unknown>>

const methods: ReadonlySet<string> = new Set([
  'get',
  'put',
  'post',
  'delete',
  'options',
  'head',
  'patch',
  'trace',
])

/**
 * A component whose name is taken gets the name of the mount before its own; what the document has
 * itself stays. `securityOf`: what the service asks of callers of a path.
 *
 * @returns a document with that of a mounted handler in it.
 */
export function mergeMount<D extends Members>(
  document: D,
  { path, openapi }: Mount,
  securityOf: (path: string) => readonly object[],
): D {
  if (openapi === undefined) return document
  const components = recordOf(document.components)
  const renamed = new Map<string, string>()
  const sections = Object.entries(recordOf(openapi.components)).map(([section, members]) => {
    const taken = recordOf(components[section])
    for (const [name, member] of Object.entries(recordOf(members))) {
      if (!(name in taken) || JSON.stringify(taken[name]) === JSON.stringify(member)) continue
      let other = `${path.replace(/\W+/g, '_').replace(/^_/, '')}_${name}`
      while (other in taken) other += '_'
      renamed.set(`#/components/${section}/${name}`, other)
    }
    return section
  })
  const refer = (_: string, value: unknown) => {
    const name = renamed.get(value as string)
    if (name === undefined) return value
    return String(value).replace(/[^/]*$/, name)
  }
  const nameOf = (section: string, name: string) =>
    renamed.get(`#/components/${section}/${name}`) ?? name
  const renameKeys = (section: string, members: unknown) =>
    Object.fromEntries(
      Object.entries(recordOf(members)).map(([name, each]) => [nameOf(section, name), each]),
    )
  // References are strings, wherever they stand: in `$ref`, and in the mapping of a discriminator.
  const copy = JSON.parse(JSON.stringify(openapi), refer)
  const own = recordOf(copy.components)
  const merged = Object.fromEntries(
    sections.map((section) => [
      section,
      { ...renameKeys(section, own[section]), ...recordOf(components[section]) },
    ]),
  )
  const ids = new Set(operationsOf(document.paths).map(({ operationId }) => operationId))
  for (const [at, item] of Object.entries(recordOf(copy.paths))) {
    for (const operation of operationsOf({ item })) {
      const { operationId: id } = operation
      if (ids.has(id)) operation.operationId = `${id}_`
      const asked = (operation.security ?? copy.security ?? securityOf(at)) as readonly unknown[]
      if (asked.length > 0)
        operation.security = asked.map((each) => renameKeys('securitySchemes', each))
    }
  }
  const tags = [...(document.tags as Members[]), ...((copy.tags ?? []) as Members[])]
  return {
    ...document,
    tags: tags.filter(({ name }, i) => tags.findIndex((other) => other.name === name) === i),
    paths: { ...copy.paths, ...recordOf(document.paths) },
    components: { ...components, ...merged },
  }
}

/** @returns the operations of all paths. */
export function operationsOf(paths: unknown): Record<string, unknown>[] {
  return Object.values(recordOf(paths)).flatMap((item) =>
    Object.entries(recordOf(item))
      .filter(([key]) => methods.has(key))
      .map(([, each]) => recordOf(each)),
  )
}
