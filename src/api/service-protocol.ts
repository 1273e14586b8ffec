import type { ServingError } from '../core/errors.ts'
import type { RunnerLife } from '../runner/runner.ts'
import type { Endpoint } from './endpoint.ts'

/** Endpoints beside those of the APIs, such as `openai` of `serving/openai` returns: for `protocols` of a Service. */
export interface ServiceProtocol {
  /** Loaded and released with the service. */
  readonly runners: readonly RunnerLife[]
  /** @internal `onLateError` is called for an error that comes after the answer's status. */
  endpoints(prefix: string, onLateError: (error: ServingError, requestId: string) => void): readonly Endpoint[]
}

/** Returns methods and paths, as `POST /v1/embeddings`. */
export function pathsOf(protocols: readonly ServiceProtocol[], prefix: string): string[] {
  const endpoints = protocols.flatMap((each) => each.endpoints(prefix, () => {}))
  return endpoints.flatMap(({ methods, path }) =>
    methods === 'any' ? [] : methods.map((method) => `${method} ${path}`),
  )
}
