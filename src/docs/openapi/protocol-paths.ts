import type { Endpoint } from '../../api/endpoint.ts'
import { paramNames } from '../../api/path-params.ts'
import { operationsOf } from './mounted.ts'
import { pathParameter } from './query.ts'

/** @returns a path without a prefix; undefined for one that is not below it. */
export function pathBelow(prefix: string, path: string): string | undefined {
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined
}

/** The part of an endpoint that its operation needs. */
export type DescribedEndpoint = Pick<Endpoint, 'path' | 'methods' | 'operation' | 'access'>

/**
 * @returns the paths of the endpoints that describe themselves; those outside of `prefix` are at
 * the server's root.
 */
export function protocolPaths(
  endpoints: readonly DescribedEndpoint[],
  prefix: string,
  taken: ReadonlySet<string>,
  requirementsOf: (path: string) => readonly object[],
): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { path, methods, operation, access } of endpoints) {
    if (operation === undefined) continue
    const id = String(operation.operationId)
    const below = pathBelow(prefix, path)
    const own = below ?? path
    const parameters = paramNames(own).map(pathParameter)
    const requirements = access.kind === 'open' ? [] : requirementsOf(path)
    paths[own] ??= below === undefined ? { servers: [{ url: '/' }] } : {}
    paths[own][String(methods[0]).toLowerCase()] = {
      ...operation,
      operationId: taken.has(id) ? `${id}_` : id,
      ...(parameters.length > 0 && {
        parameters: [...parameters, ...((operation.parameters as []) ?? [])],
      }),
      ...(requirements.length > 0 && { security: requirements }),
    }
  }
  return paths
}

const descriptions: Readonly<Record<string, string>> = {
  jobs: 'Calls of asynchronous APIs that the server keeps, to look at, to wait for and to end.',
  health: 'Whether the server runs, and whether it takes requests.',
  Connect: 'APIs by their names, in the messages of gRPC; connectrpc.com has clients.',
  OpenAI: 'Models in the messages of OpenAI, for its clients.',
  'Open Inference Protocol':
    'APIs and models as named tensors, as KServe, Triton and MLServer have them.',
}

/** @returns the tags of paths. */
export function protocolTags(
  paths: ReturnType<typeof protocolPaths>,
): readonly { readonly name: string }[] {
  const tags = operationsOf(paths).flatMap((operation) => (operation.tags ?? []) as string[])
  return [...new Set(tags)].map((name) => ({ name, description: descriptions[name] }))
}
