/**
 * Answers of an API that are given again to equal requests. It holds whole answers of 2xx alone: streams, errors and
 * answers with cookies pass. @module
 */
import { createHash } from 'node:crypto'
import { loadOptional } from '../core/modules/optional.ts'
import { deferred, type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { type HeaderLine, type HttpRequest, type HttpResponse, isAsyncBody } from '../http/message.ts'
import type { Api } from './api.ts'
import type { CacheSettings } from './cache-options.ts'
import { failure } from './call.ts'
import { withDeadline } from './stages.ts'

interface Entry {
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: Buffer
  /** When it was computed, in milliseconds of the wall clock. */
  readonly at: number
}

/** Answers above this size stay in their process. **Units**: bytes. */
const maxSharedBytes = 1024 * 1024
/** What an entry takes beside its body, roughly. **Units**: bytes. */
const entryBytes = 1024

type Compute = () => MaybePromise<HttpResponse>

/**
 * Returns the cache of one API in one process: what answers from memory, else by `compute`, which never fails. Called
 * after hooks and auth.
 */
export function responseCache(
  service: { readonly name: string; readonly version: string | undefined },
  api: Api,
  { ttlMs, maxBytes, vary, redis }: CacheSettings,
): (request: HttpRequest, ctx: Context, compute: Compute) => MaybePromise<HttpResponse> {
  const control = `private, max-age=${Math.floor(ttlMs / 1000)}`
  const read = [...api.input.readsHeaders, ...api.output.readsHeaders]
  const names = [...new Set(['content-type', 'accept', ...read, ...vary])]
  const { LRUCache } = loadOptional<typeof import('lru-cache')>('lru-cache', '^11.0.0', 'cache')
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ body }) => body.length + entryBytes,
  })
  const running = new Map<string, Promise<Entry | undefined>>()

  const keyOf = (request: HttpRequest, { headers, path, query, state }: Context) => {
    const values = names.map((name) => headers.get(name))
    // An answer of another version is another one.
    const own = [service.name, service.version, api.name, path, String(query), state.caller?.name, ...values]
    return createHash('sha256').update(JSON.stringify(own)).update(request.peek()).digest('base64url')
  }

  const lines = (headers: readonly HeaderLine[], ageMs: number): readonly HeaderLine[] => {
    const age: HeaderLine = ['age', String(Math.floor(ageMs / 1000))]
    const hasOwn = headers.some(([name]) => name === 'cache-control')
    return hasOwn ? [...headers, age] : [...headers, ['cache-control', control], age]
  }

  const again = ({ status, headers, body, at }: Entry): HttpResponse => {
    return { status, headers: lines(headers, Math.max(0, Date.now() - at)), body }
  }

  const keep = (key: string, entry: Entry) => {
    const ttl = entry.at + ttlMs - Date.now()
    if (ttl >= 1) entries.set(key, entry, { ttl })
  }

  const share = (key: string, { body, ...head }: Entry) => {
    if (redis === undefined || body.length > maxSharedBytes) return
    const text = Buffer.from(JSON.stringify(head))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(text.length)
    const bytes = Buffer.concat([length, text, body])
    void redis((client) => client.set(`serving-cache:${key}`, bytes, 'PX', ttlMs))
  }

  const shared = async (key: string): Promise<Entry | undefined> => {
    const bytes = await redis?.((client) => client.getBuffer(`serving-cache:${key}`))
    if (!bytes) return undefined
    const end = 4 + bytes.readUInt32LE(0)
    return { ...JSON.parse(bytes.toString('utf8', 4, end)), body: bytes.subarray(end) }
  }

  const computed = (key: string, compute: Compute, led = deferred<Entry | undefined>()) => {
    running.set(key, led.promise)
    return whenReady(compute(), (response): HttpResponse => {
      const entry = entryOf(response)
      if (entry !== undefined) {
        keep(key, entry)
        share(key, entry)
      }
      if (running.get(key) === led.promise) running.delete(key)
      led.resolve(entry)
      return entry === undefined ? response : { ...response, headers: lines(response.headers, 0) }
    })
  }

  /** Looks in Redis, and else computes; others with the key wait for it. */
  const lead = async (key: string, compute: Compute) => {
    const led = deferred<Entry | undefined>()
    running.set(key, led.promise)
    const entry = await shared(key)
    // The same map entry serves those who come while it computes.
    if (entry === undefined) return { response: await computed(key, compute, led) }
    keep(key, entry)
    running.delete(key)
    led.resolve(entry)
    return entry
  }

  return (request, ctx, compute) => {
    const asked = ctx.headers.get('cache-control') ?? ''
    if (/\bno-store\b/i.test(asked)) return compute()
    const key = keyOf(request, ctx)
    if (/\bno-cache\b/i.test(asked)) return computed(key, compute)
    const entry = entries.get(key)
    if (entry !== undefined) {
      request.release()
      return again(entry)
    }
    const led = running.get(key)
    if (led === undefined && redis === undefined) return computed(key, compute)
    request.retain()
    const found = led ?? lead(key, compute)
    const answer = found.then((kept) => {
      if (kept === undefined) return compute()
      if ('response' in kept) return kept.response
      request.release()
      return again(kept)
    })
    return withDeadline(ctx, answer, { fail: failure })
  }
}

/** Returns a copy of an answer that may be given again. */
function entryOf({ status = 200, headers, body, before = '', error }: HttpResponse): Entry | undefined {
  if (error !== undefined || status < 200 || status > 299 || isAsyncBody(body)) return undefined
  if (headers.some(([name, value]) => name === 'set-cookie' || (name === 'cache-control' && /no-/i.test(value)))) {
    return undefined
  }
  const chunks = typeof body === 'string' || body instanceof Uint8Array ? [body] : body
  const pieces = [before, ...chunks].map((chunk) => Buffer.from(chunk as Uint8Array))
  return { status, headers, body: Buffer.concat(pieces), at: Date.now() }
}
