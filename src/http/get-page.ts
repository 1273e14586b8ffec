import type { Endpoint } from './endpoint.ts'
import { problemResponse } from './problem.ts'

/** Returns the endpoint of a server page, answered under any load. `readsHeaders`: beside the request's id. */
export function getPage(path: string, readsHeaders: readonly string[], answer: Endpoint['answer']): Endpoint {
  return {
    name: path,
    path,
    methods: ['GET'],
    readsHeaders: [...readsHeaders, 'x-request-id'],
    isLimited: false,
    decompresses: false,
    answer,
    problem: problemResponse,
  }
}
