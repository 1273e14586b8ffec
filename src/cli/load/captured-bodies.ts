/** Bodies of recorded calls. @module */
import { bodyOf, type CapturedRequest, messageOf } from '../../capture/captured-body.ts'
import { filesOf, foldersOf } from '../../capture/place.ts'
import { readCalls } from '../../capture/read-rows.ts'
import { InvalidArgument } from '../../core/errors.ts'
import type { Body } from './sender.ts'

/**
 * @param url - Of one API, whose calls are taken, or of all.
 * @returns what callers have sent, the oldest first.
 * @throws InvalidArgument if no call can be sent again.
 */
export async function capturedBodies(place: string, url: URL, isGrpc: boolean): Promise<Body[]> {
  const bodies: (Body & { readonly atMs: number; readonly path: string })[] = []
  const reasons = new Set<string>()
  for (const { store } of await foldersOf(place))
    for (const file of await filesOf(store))
      for await (const call of readCalls(store, file)) {
        const request = await (isGrpc ? grpcRequestOf : bodyOf)(call)
        if (typeof request === 'string') reasons.add(request)
        else {
          const { method, path, headers, body = '' } = request
          const bytes = Buffer.from(body)
          const { 'content-type': contentType = '' } = headers
          bodies.push({ bytes, contentType, method, path, atMs: Number(call.row.time) })
        }
      }
  if (bodies.length === 0)
    throw new InvalidArgument(`no call of ${place} can be sent again: ${[...reasons].join(', ')}`)
  bodies.sort((a, b) => a.atMs - b.atMs)
  const base = url.pathname.replace(/\/$/, '')
  const isOfApi = ({ path }: { readonly path: string }) => base.endsWith(path)
  if (isGrpc || !bodies.some(isOfApi))
    return bodies.map((body) => ({ ...body, path: base + body.path }))
  return bodies.filter(isOfApi).map((body) => ({ ...body, path: base }))
}

async function grpcRequestOf(call: Parameters<typeof messageOf>[0]) {
  const body = await messageOf(call)
  return typeof body === 'string'
    ? body
    : { method: 'POST', path: '', headers: {} as CapturedRequest['headers'], body }
}
