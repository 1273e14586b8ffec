/** One request that was let in, over any protocol, and the only way from it to a function. @module */

import { expected, InternalError, NotFound, type ServingError } from '../core/errors.ts'
import { HeldMemory, type SharedMemory } from '../core/memory/held-memory.ts'
import { isPromise, type MaybePromise, whenReady } from '../core/promise.ts'
import { parseJson } from '../core/text/parse-json.ts'
import { Context, type RequestLine } from '../http/context.ts'
import { noMemory, tooMany } from '../http/limits.ts'
import type { HttpRequest } from '../http/message.ts'
import type { Api } from './api.ts'
import { isOwner, type OwnerKey, ownerOf, type SightKey, sightOf } from './caller-identity.ts'
import { type RequestHook, runRequestHooks } from './hooks.ts'
import { type Callable, callDecoded, type Encoding, withDeadline } from './stages.ts'

/** The request line, as far as endpoints need it. */
export interface RequestTarget extends RequestLine {
  /** Endpoints that answer GET also get HEAD; the body is not sent. */
  readonly method: string
  /** Without the query; not decoded. */
  readonly path: string
  /** Without `?`; not decoded. */
  readonly query: string
  /** Values of the path's `{name}` segments, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
}

/**
 * Who may come in. There is no default, so that nobody leaves a path open by mistake.
 *
 * - `service`: whom the auth and the hooks of the service admit.
 * - `api`: as `service`, with the auth and the hooks of this API.
 * - `message`: the request names its API within, whose auth and hooks `visit.call` and `visit.enter` run.
 * - `public`: everybody whom the hooks admit, without auth.
 * - `open`: everybody, without hooks. Calls no API.
 */
export type Access =
  | { readonly kind: 'service' }
  | { readonly kind: 'api'; readonly api: string }
  | { readonly kind: 'message' }
  | { readonly kind: 'public'; readonly because: string }
  | { readonly kind: 'open'; readonly because: string }

/**
 * Pages that a browser may send a request from. `any`: the option `cors` alone decides who reads the answer. `same`:
 * pages of this server and those that `cors` allows, else 403. A list: pages of this host, and of these origins; `*` is
 * all.
 */
export type Origins = 'any' | 'same' | readonly string[]

/** The part of an API that decides who may call it. */
export type Guarded = Pick<Api, 'name' | 'auth' | 'hooks' | 'slots'>

/** The values of a path without parameters. */
export const noParams: RequestTarget['params'] = Object.freeze({})

/** What the key of {@link Entered} is made by: nobody else can make one. */
const doorKey = Symbol('door')

/**
 * A caller whom the auth and the hooks of one API have let in. {@link Visit.enter} alone makes one, so that nothing
 * runs or is kept for a caller without it.
 */
export class Entered<A extends Guarded = Api> {
  readonly api: A
  readonly visit: Visit
  readonly ctx: Context

  /** @internal */
  constructor(key: symbol, api: A, visit: Visit, ctx: Context) {
    if (key !== doorKey) throw new TypeError('expected visit.enter(api) to let a caller in')
    this.api = api
    this.visit = visit
    this.ctx = ctx
  }

  /**
   * Takes one of the slots of the API until the end of the request, then runs the stages: `decode`, the function, and
   * `encoding`, all within the deadline. Never throws, never rejects.
   */
  call<R>(
    this: Entered<A & Callable>,
    decode: () => MaybePromise<unknown>,
    encoding: Encoding<R>,
  ): MaybePromise<R> {
    return this.visit.callEntered(this.api, decode, encoding, this.ctx)
  }
}

/** One request, call or live stream that the server has admitted. A server makes it; protocols get it. */
export abstract class Visit {
  readonly ctx: Context
  readonly access: Access
  /** @internal Why the auth of the service refuses, which an API with its own auth overrules. */
  denial: ServingError | undefined
  /** @internal The auth of an API which has admitted the caller: it does not run again. */
  admittedBy: RequestHook | undefined

  constructor(ctx: Context, access: Access) {
    this.ctx = ctx
    this.access = access
  }

  abstract readonly target: RequestTarget

  /** @internal What all requests of the server share. */
  protected abstract get memory(): SharedMemory

  /** @internal Reserves memory until the end; returns false if it does not fit. `isSpare`: see MemoryBudget. */
  abstract reserve(bytes: number, isSpare?: boolean): boolean

  /** Who asks, for what belongs to callers; undefined without a caller, and for one without a name. */
  get owner(): OwnerKey | undefined {
    return ownerOf(this.ctx)
  }

  /** Whether auth and hooks of the service made the caller an admin. What an API's own auth says does not count. */
  get isAdmin(): boolean {
    return (
      this.denial === undefined &&
      this.admittedBy === undefined &&
      this.ctx.state.caller?.isAdmin === true
    )
  }

  /** All that a function sees of the caller, for answers that are given again; undefined if a key cannot tell it. */
  get sight(): SightKey | undefined {
    return sightOf(this.ctx)
  }

  /**
   * Takes memory of the server until the end of the request: for all that it reads, keeps, or
   * leaves to be read by the client.
   *
   * @param bytes - How much, beside what the request holds already.
   * @throws Overloaded if the server has too little.
   */
  hold(bytes: number): void {
    if (!this.reserve(bytes)) throw noMemory()
  }

  /**
   * Opens an account of memory that goes up and down, such as for what waits to be read by the client. The end of the
   * request empties it.
   */
  account(): HeldMemory {
    const account = new HeldMemory(this.memory)
    this.ctx.onEnd(() => account.end())
    return account
  }

  /**
   * Runs one of several calls of the request, with a context of its own. What the call takes, such as a slot of its API
   * and memory, it gives back when `run` has ended.
   */
  async apart<R>(run: (ctx: Context) => MaybePromise<R>): Promise<R> {
    const { ctx: whole, target } = this
    const { headers, transport, remoteAddress, scheme, state } = whole
    const ctx = new Context({ headers })
    const memory = new HeldMemory(this.memory)
    const reserve = (bytes: number, isSpare?: boolean) => memory.hold(memory.bytes + bytes, isSpare)
    ctx.bind(target, undefined, { transport, remoteAddress, scheme, reservation: { reserve } })
    Object.assign(ctx.state, state)
    const forget = whole.onAbort((reason) => ctx.abort(reason))
    try {
      return await run(ctx)
    } finally {
      forget()
      ctx.end()
      memory.end()
    }
  }

  /**
   * Reads JSON within the bounds of the server. The memory of a request is given back.
   *
   * @throws BadInput; PayloadTooLarge for too many bytes, values or keys.
   */
  json(body: HttpRequest | Uint8Array): unknown {
    if (body instanceof Uint8Array) return parseJson(body, 'the request')
    try {
      return parseJson(body.peek(), 'the request')
    } finally {
      body.release()
    }
  }

  /**
   * Lets the caller in to an API that the request names: runs its auth and hooks. Where the path has named it, that was
   * done before.
   *
   * @param ctx - Of the call, if one request has several.
   * @throws ServingError: why the caller is refused.
   */
  enter<A extends Guarded>(api: A, ctx: Context = this.ctx): MaybePromise<Entered<A>> {
    const entered = (refusal: ServingError | undefined) => {
      if (refusal !== undefined) throw refusal
      return new Entered(doorKey, api, this, ctx)
    }
    return whenReady(refusalOf(this, api, ctx), entered)
  }

  /**
   * Calls an API: {@link enter}, then the stages, all within the deadline. Never throws, never rejects.
   *
   * @param decode - Returns the input of the function, by a method of `api.input`.
   * @param encoding - Makes the answer of the result, or of an error.
   * @param ctx - Of the call, if one request has several.
   */
  call<R>(
    api: Guarded & Callable,
    decode: () => MaybePromise<unknown>,
    encoding: Encoding<R>,
    ctx: Context = this.ctx,
  ): MaybePromise<R> {
    // The engine has run the hooks of the API that the path names, and has taken one of its slots.
    if (isAt(this.access, api)) return callDecoded(api, decode, ctx, encoding)
    const refusal = refusalOf(this, api, ctx)
    if (refusal === undefined) return this.callEntered(api, decode, encoding, ctx)
    const run = (error: ServingError | undefined) =>
      error === undefined ? this.callEntered(api, decode, encoding, ctx) : encoding.fail(error, ctx)
    return isPromise(refusal) ? withDeadline(ctx, refusal.then(run), encoding) : run(refusal)
  }

  /** @internal Takes a slot of an API that has let the caller in, and calls it: for {@link Entered}. */
  callEntered<R>(
    api: Guarded & Callable,
    decode: () => MaybePromise<unknown>,
    encoding: Encoding<R>,
    ctx: Context,
  ): MaybePromise<R> {
    const { slots } = api
    // Where the path names the API, the engine has taken one.
    if (slots !== undefined && !isAt(this.access, api)) {
      if (!slots.acquire()) return encoding.fail(tooMany(slots), ctx)
      ctx.onEnd(() => slots.release())
    }
    return callDecoded(api, decode, ctx, encoding)
  }

  /**
   * Finds an API by the name in a request. `kind`: what errors call it.
   *
   * @throws NotFound, or why the caller is refused: who may not come in does not learn which names there are.
   */
  find<A>(apis: ReadonlyMap<string, A>, name: string, member: string, kind = 'an API'): A {
    const api = apis.get(name)
    if (api !== undefined) return api
    throw this.denial ?? new NotFound(expected(`the name of ${kind}`, member, name.slice(0, 80)))
  }

  /**
   * Learns who asks from the auth of an API alone, for what belongs to callers: see {@link owns}.
   *
   * @param api - Undefined for one that is gone, whose auth was that of the service.
   * @throws ServingError: why the caller is refused.
   */
  async identify(api: Pick<Guarded, 'name' | 'auth'> | undefined): Promise<void> {
    if (api !== undefined && isAt(this.access, api)) return
    const auth = api?.auth
    const refusal = auth ? await runRequestHooks([auth], this.ctx) : refusalWithout(this, auth)
    if (refusal !== undefined) throw refusal
    this.admittedBy = auth || undefined
  }

  /** Whether what `owner` has is the caller's. */
  owns(owner: string): boolean {
    return isOwner(owner, this.ctx)
  }

  /**
   * Returns those of the APIs that the auth of the caller admits, for lists.
   *
   * @param contextOf - Returns the context that the auth of an API gets.
   * @throws ServingError: why, if there are only others.
   */
  async visible<A extends Guarded>(
    apis: Iterable<A>,
    contextOf: (api: A) => Context,
  ): Promise<readonly A[]> {
    const visible: A[] = []
    const refusals = new Map<RequestHook, ServingError | undefined>()
    let refusal: ServingError | undefined
    for (const api of apis) {
      const { auth } = api
      if (auth && !refusals.has(auth))
        refusals.set(auth, await runRequestHooks([auth], contextOf(api)))
      const error = auth ? refusals.get(auth) : refusalWithout(this, auth)
      if (error === undefined) visible.push(api)
      else refusal ??= error
    }
    if (visible.length === 0 && refusal !== undefined) throw refusal
    return visible
  }
}

/** @returns why a caller is refused where no hook says who may come in; `false` opens an API to all. */
function refusalWithout({ denial }: Visit, auth: false | undefined): ServingError | undefined {
  return auth === undefined ? denial : undefined
}

/** Whether the path names the API, whose auth and hooks have let the request in. */
function isAt(access: Access, api: Pick<Guarded, 'name'>): boolean {
  return access.kind === 'api' && access.api === api.name
}

/**
 * A function and no private method, which each new visit would have to be marked for. Never rejects.
 *
 * @returns why the caller may not call the API, or undefined.
 */
function refusalOf(
  visit: Visit,
  api: Guarded,
  ctx: Context,
): MaybePromise<ServingError | undefined> {
  const { access, denial } = visit
  if (isAt(access, api)) return undefined
  if (access.kind === 'open' || access.kind === 'public')
    return new InternalError(
      `expected a path whose access is of callers to call ${api.name}, received ${access.kind}`,
    )
  ctx.api = api.name
  if (denial !== undefined && api.auth === undefined) return denial
  const isKnown = ctx === visit.ctx && api.auth === visit.admittedBy
  const hooks = api.auth && !isKnown ? [api.auth, ...api.hooks.request] : api.hooks.request
  return hooks.length === 0 ? undefined : runRequestHooks(hooks, ctx)
}
