/**
 * The check of a response before it is sent.
 * @module
 */
import { expected } from '../errors.ts'
import type { HttpResponse } from '../http/message.ts'
import { responseFault } from './head.ts'

/** Returns why a response cannot be sent, or undefined; takes ownership of its pooled body for sending. */
export function faultOf(response: HttpResponse): string | undefined {
  try {
    return responseFault(response) ?? pooledFaultOf(response)
  } catch {
    return expected('{ status?, headers, body }', 'the response', response)
  }
}

/** Takes ownership of a response's pooled body for sending, which can be done once. */
function pooledFaultOf({ pooled }: HttpResponse): string | undefined {
  if (pooled === undefined || pooled.take()) return undefined
  return 'expected a new response, received one that was sent before; keep the value, or headers and body alone'
}
