/**
 * Answers of an API that are given again to equal requests. It holds whole answers of 2xx alone: streams, errors and
 * answers with cookies pass. @module
 */
import { createHash } from 'node:crypto'
import { ServingError } from '../core/errors.ts'
import { loadOptional } from '../core/modules/optional.ts'
import { deferred, type MaybePromise, whenReady } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import {
  chunksOf,
  type HeaderLine,
  type HttpRequest,
  type HttpResponse,
  isAsyncBody,
  joinHeaderNames,
  readsAll,
} from '../http/message.ts'
import { etagOf } from '../http/selected.ts'
import type { Api } from './api.ts'
import type { CacheSettings } from './cache-options.ts'
import { failure } from './call.ts'
import type { SightKey } from './caller-identity.ts'
import { abortOf, withDeadline } from './stages.ts'
import type { Visit } from './visit.ts'

interface Entry {
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: Buffer
  /** Of an answer to GET. */
  readonly etag?: string | undefined
  /** When it was computed, in milliseconds of the wall clock. */
  readonly at: number
}

/**
 * What equal requests that wait for a computation get: its answer, or its error. `left`: its client left, or its
 * deadline passed, so that the first of them computes. `alone`: a stream, or an answer for one client.
 */
type Landing = { readonly entry: Entry } | { readonly error: ServingError } | 'left' | 'alone'

/** Answers above this size stay in their process. **Units**: bytes. */
const maxSharedBytes = 1024 * 1024
/** What an entry takes beside its body, roughly. **Units**: bytes. */
const entryBytes = 1024

type Compute = () => MaybePromise<HttpResponse>

/** A request whose answer may be given again. */
interface Asked {
  readonly key: string
  readonly ctx: Context
  readonly compute: Compute
}

/** Answers from memory, else by `compute`, which never fails. */
export type AnswerAgain = (
  request: HttpRequest,
  visit: Visit,
  compute: Compute,
) => MaybePromise<HttpResponse>

/**
 * Undefined if a descriptor does not name the headers that it reads. `warn`: told why answers are
 * not kept.
 *
 * @returns the cache of one API in one process, asked after hooks and auth.
 */
export function responseCache(
  service: { readonly name: string; readonly version: string | undefined },
  api: Api,
  { ttlMs, maxBytes, vary, redis }: CacheSettings,
  warn: (message: string) => void,
): AnswerAgain | undefined {
  const control = `private, max-age=${Math.floor(ttlMs / 1000)}`
  const names = joinHeaderNames(
    ['content-type', 'accept'],
    api.input.readsHeaders,
    api.output.readsHeaders,
    vary,
  )
  if (readsAll(names)) {
    warn(
      `the cache of ${api.name} keeps nothing: readsHeaders of its descriptors does not name the headers they read`,
    )
    return undefined
  }
  const { LRUCache } = loadOptional<typeof import('lru-cache')>('lru-cache', '^11.0.0', 'cache')
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ body }) => body.length + entryBytes,
  })
  const running = new Map<string, Promise<Landing>>()
  let isTold = false

  const keyOf = (
    request: HttpRequest,
    { headers, path, query, scheme }: Context,
    sight: SightKey,
  ) => {
    const values = names.map((name) => headers.get(name))
    // An answer of another version is another one.
    const seen = [
      service.name,
      service.version,
      api.name,
      scheme,
      path,
      String(query),
      sight,
      ...values,
    ]
    return createHash('sha256')
      .update(JSON.stringify(seen))
      .update(request.peek())
      .digest('base64url')
  }

  const lines = (headers: readonly HeaderLine[], ageMs: number): readonly HeaderLine[] => {
    const age: HeaderLine = ['age', String(Math.floor(ageMs / 1000))]
    const hasOwn = headers.some(([name]) => name === 'cache-control')
    // It names accept, too.
    const others = headers.filter(([name, value]) => name !== 'vary' || value !== 'accept')
    return [
      ...others,
      ['vary', names.join(', ')],
      ...(hasOwn ? [] : [['cache-control', control] as const]),
      age,
    ]
  }

  const revisionOf = ({ etag }: Entry) => (etag === undefined ? undefined : { etag })

  const again = (entry: Entry): HttpResponse => {
    const { status, headers, body, at } = entry
    if (!isSuccess({ status })) return { status, headers, body }
    const aged = lines(headers, Math.max(0, Date.now() - at))
    return { status, headers: aged, body, revision: revisionOf(entry) }
  }

  const keep = (key: string, entry: Entry) => {
    // Of a server whose clock is ahead, `at` may be later than now.
    const ttl = Math.min(ttlMs, entry.at + ttlMs - Date.now())
    if (ttl >= 1) entries.set(key, entry, { ttl })
  }

  const share = (key: string, entry: Entry) => {
    if (redis === undefined || entry.body.length > maxSharedBytes) return
    void redis((client) => client.set(`serving-cache:${key}`, sharedBytes(key, entry), 'PX', ttlMs))
  }

  const findShared = async (key: string): Promise<Entry | undefined> => {
    const bytes = await redis?.((client) => client.getBuffer(`serving-cache:${key}`))
    return bytes ? sharedEntry(key, bytes) : undefined
  }

  /** Looks for a `stored` answer, and else computes; equal requests wait for it from now on. */
  const lead = (
    asked: Asked,
    stored: MaybePromise<Entry | undefined>,
  ): MaybePromise<HttpResponse> => {
    const { key, ctx, compute } = asked
    const flight = deferred<Landing>()
    const land = (landing: Landing) => {
      if (running.get(key) === flight.promise) running.delete(key)
      flight.resolve(landing)
    }
    running.set(key, flight.promise)
    ctx.onAbort(() => land('left'))
    return whenReady(stored, (entry) => {
      if (entry !== undefined) {
        keep(key, entry)
        land({ entry })
        return again(entry)
      }
      return whenReady(compute(), (response) => {
        const landing = ctx.abortReason === undefined ? landingOf(response, api) : 'left'
        land(landing)
        if (typeof landing === 'string' || 'error' in landing || !isSuccess(landing.entry))
          return response
        keep(key, landing.entry)
        share(key, landing.entry)
        const revision = revisionOf(landing.entry)
        return { ...response, headers: lines(response.headers, 0), revision }
      })
    })
  }

  /** Waits for the answer of an equal request, and computes if its client leaves. */
  const follow = async (asked: Asked, first: Promise<Landing>): Promise<HttpResponse> => {
    const { key, ctx, compute } = asked
    let landing = await first
    while (landing === 'left') {
      if (ctx.abortReason !== undefined) return failure(abortOf(ctx.abortReason), ctx)
      const next = running.get(key)
      if (next === undefined) return lead(asked, undefined)
      landing = await next
    }
    if (landing === 'alone') return compute()
    return 'error' in landing ? failure(landing.error, ctx) : again(landing.entry)
  }

  return (request, { ctx, sight }, compute) => {
    const control = ctx.headers.get('cache-control') ?? ''
    if (sight === undefined && !isTold) {
      isTold = true
      warn(
        `the cache of ${api.name} keeps no answers for what hooks leave in ctx.state without the name of a caller`,
      )
    }
    if (sight === undefined || /\bno-store\b/i.test(control)) return compute()
    const asked = { key: keyOf(request, ctx, sight), ctx, compute }
    if (/\bno-cache\b/i.test(control)) return lead(asked, undefined)
    const entry = entries.get(asked.key)
    if (entry !== undefined) return again(entry)
    const flight = running.get(asked.key)
    if (flight === undefined && redis === undefined) return lead(asked, undefined)
    const answer = flight === undefined ? lead(asked, findShared(asked.key)) : follow(asked, flight)
    return withDeadline(ctx, Promise.resolve(answer), { fail: failure })
  }
}

function isSuccess({ status }: Pick<Entry, 'status'>): boolean {
  return status >= 200 && status <= 299
}

function landingOf(
  { status = 200, headers, body, before = '', error }: HttpResponse,
  { method }: Api,
): Landing {
  if (ServingError.is(error)) return { error }
  if (error !== undefined || isAsyncBody(body)) return 'alone'
  if (
    headers.some(
      ([name, value]) => name === 'set-cookie' || (name === 'cache-control' && /no-/i.test(value)),
    )
  ) {
    return 'alone'
  }
  const pieces = [before, ...chunksOf(body)].map((chunk) => Buffer.from(chunk as Uint8Array))
  const joined = Buffer.concat(pieces)
  const etag = method === 'GET' ? etagOf(joined) : undefined
  return { entry: { status, headers, body: joined, etag, at: Date.now() } }
}

const digestOf = (key: string, entry: Uint8Array) =>
  createHash('sha256').update(key).update(entry).digest()
const digestBytes = 32

/** @returns an entry for the shared store: digest, length of the head, head as JSON, body. */
function sharedBytes(key: string, { body, ...head }: Entry): Buffer {
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  const entry = Buffer.concat([length, text, body])
  return Buffer.concat([digestOf(key, entry), entry])
}

/** Undefined for bytes that {@link sharedBytes} did not return for the key: damaged, or of other programs. */
function sharedEntry(key: string, bytes: Buffer): Entry | undefined {
  const entry = bytes.subarray(digestBytes)
  if (!digestOf(key, entry).equals(bytes.subarray(0, digestBytes))) return undefined
  const end = 4 + entry.readUInt32LE(0)
  return { ...JSON.parse(entry.toString('utf8', 4, end)), body: entry.subarray(end) }
}
