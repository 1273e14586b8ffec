/** Bodies of recorded calls. @module */
import { InvalidArgument } from '../../core/errors.ts'
import { recordedCalls, requestOf, timeOf } from '../recorded-calls.ts'
import type { Outgoing } from './sender.ts'

/**
 * @param url - Of one API, whose calls are taken, or of all.
 * @returns what callers have sent.
 * @throws InvalidArgument if no call can be sent again.
 */
export async function capturedBodies(place: string, url: URL): Promise<Outgoing[]> {
  const isGrpc = url.protocol.startsWith('grpc')
  const bodies: Outgoing[] = []
  const reasons = new Set<string>()
  for await (const call of recordedCalls(place)) {
    const request = await requestOf(call, isGrpc)
    if (typeof request === 'string') reasons.add(request)
    else bodies.push({ ...request, atMs: timeOf(call) })
  }
  if (bodies.length === 0)
    throw new InvalidArgument(`no call of ${place} can be sent again: ${[...reasons].join(', ')}`)
  const base = url.pathname.replace(/\/$/, '')
  const ofApi = bodies.filter(({ path }) => path !== undefined && base.endsWith(path))
  if (ofApi.length > 0) return ofApi.map((body) => ({ ...body, path: base }))
  return bodies.map((body) => ({ ...body, path: base + body.path }))
}
