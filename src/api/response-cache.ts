/**
 * Answers of an API that are given again to equal requests. It holds whole answers of 2xx alone: streams, errors and
 * answers with cookies pass. @module
 */
import { createHash } from 'node:crypto'
import type { LRUCache } from 'lru-cache'
import { loadOptional } from '../core/modules/optional.ts'
import { deferred, isPromise, type MaybePromise } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import { type HeaderLine, type HttpRequest, type HttpResponse, isAsyncBody } from '../http/message.ts'
import type { Api } from './api.ts'
import type { CacheSettings } from './cache-options.ts'
import { failure } from './call.ts'
import { withDeadline } from './stages.ts'

/** A kept answer. */
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

/** The cache of one API in one process. */
export class ResponseCache {
  readonly #settings: CacheSettings
  readonly #control: string
  /** Starts every key: an answer of another version is another one. */
  readonly #name: readonly unknown[]
  readonly #headers: readonly string[]
  readonly #entries: LRUCache<string, Entry>
  readonly #running = new Map<string, Promise<Entry | undefined>>()

  constructor(
    service: { readonly name: string; readonly version: string | undefined },
    api: Api,
    settings: CacheSettings,
  ) {
    const { ttlMs, maxBytes, vary } = settings
    this.#settings = settings
    this.#control = `private, max-age=${Math.floor(ttlMs / 1000)}`
    this.#name = [service.name, service.version, api.name]
    const read = [...api.input.readsHeaders, ...api.output.readsHeaders]
    this.#headers = [...new Set(['content-type', 'accept', ...read, ...vary])]
    const { LRUCache } = loadOptional<typeof import('lru-cache')>('lru-cache', '^11.0.0', 'cache')
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ body }) => body.length + entryBytes })
  }

  /** Answers from memory, else by `compute`, which never fails. Called after hooks and auth. */
  answer(request: HttpRequest, ctx: Context, compute: () => MaybePromise<HttpResponse>): MaybePromise<HttpResponse> {
    const asked = ctx.headers.get('cache-control') ?? ''
    if (/\bno-store\b/i.test(asked)) return compute()
    const key = this.#keyOf(request, ctx)
    if (/\bno-cache\b/i.test(asked)) return this.#compute(key, compute)
    const entry = this.#entries.get(key)
    if (entry !== undefined) {
      request.release()
      return this.#again(entry)
    }
    const running = this.#running.get(key)
    if (running === undefined && this.#settings.redis === undefined) return this.#compute(key, compute)
    request.retain()
    const found = running ?? this.#lead(key, compute)
    const answer = found.then((kept) => {
      if (kept === undefined) return compute()
      if ('response' in kept) return kept.response
      request.release()
      return this.#again(kept)
    })
    return withDeadline(ctx, answer, { fail: failure })
  }

  /** Looks in Redis, and else computes; others with the key wait for it. */
  #lead(key: string, compute: () => MaybePromise<HttpResponse>) {
    const led = deferred<Entry | undefined>()
    this.#running.set(key, led.promise)
    return this.#shared(key).then(async (entry) => {
      if (entry === undefined) {
        // The same map entry serves those who come while it computes.
        return { response: await this.#compute(key, compute, led) }
      }
      this.#keep(key, entry)
      this.#running.delete(key)
      led.resolve(entry)
      return entry
    })
  }

  #compute(
    key: string,
    compute: () => MaybePromise<HttpResponse>,
    led = deferred<Entry | undefined>(),
  ): MaybePromise<HttpResponse> {
    this.#running.set(key, led.promise)
    const done = (response: HttpResponse) => {
      const entry = entryOf(response)
      if (entry !== undefined) {
        this.#keep(key, entry)
        this.#share(key, entry)
      }
      if (this.#running.get(key) === led.promise) this.#running.delete(key)
      led.resolve(entry)
      return entry === undefined ? response : { ...response, headers: this.#lines(response.headers, 0) }
    }
    const response = compute()
    return isPromise(response) ? response.then(done) : done(response)
  }

  #keep(key: string, entry: Entry): void {
    const ttl = entry.at + this.#settings.ttlMs - Date.now()
    if (ttl >= 1) this.#entries.set(key, entry, { ttl })
  }

  #again({ status, headers, body, at }: Entry): HttpResponse {
    return { status, headers: this.#lines(headers, Math.max(0, Date.now() - at)), body }
  }

  #lines(headers: readonly HeaderLine[], ageMs: number): readonly HeaderLine[] {
    const age: HeaderLine = ['age', String(Math.floor(ageMs / 1000))]
    const hasOwn = headers.some(([name]) => name === 'cache-control')
    return hasOwn ? [...headers, age] : [...headers, ['cache-control', this.#control], age]
  }

  #keyOf(request: HttpRequest, { headers, path, query, state }: Context): string {
    const values = this.#headers.map((name) => headers.get(name))
    const hash = createHash('sha256').update(
      JSON.stringify([...this.#name, path, String(query), state.caller?.name, ...values]),
    )
    return hash.update(request.peek()).digest('base64url')
  }

  async #shared(key: string): Promise<Entry | undefined> {
    const bytes = await this.#settings.redis?.((client) => client.getBuffer(`serving-cache:${key}`))
    if (!bytes) return undefined
    const end = 4 + bytes.readUInt32LE(0)
    return { ...JSON.parse(bytes.toString('utf8', 4, end)), body: bytes.subarray(end) }
  }

  #share(key: string, { body, ...head }: Entry): void {
    if (this.#settings.redis === undefined || body.length > maxSharedBytes) return
    const text = Buffer.from(JSON.stringify(head))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(text.length)
    const bytes = Buffer.concat([length, text, body])
    void this.#settings.redis((client) => client.set(`serving-cache:${key}`, bytes, 'PX', this.#settings.ttlMs))
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
