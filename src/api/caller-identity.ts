/** Who asks, as keys of what the server keeps for callers. They are made of `ctx.state`, and only here. @module */
import type { Context } from '../http/context.ts'
import { type OwnerKey, ownerOf } from '../http/owner-key.ts'

export { type OwnerKey, ownerKey, ownerOf } from '../http/owner-key.ts'

declare const brand: unique symbol

/** All that a function sees of its caller. For answers that are given again. */
export type SightKey = string & { readonly [brand]: 'sight' }

/** Names never begin like this: see {@link isOwner}. */
const ownerMark = '["'

/** The owner of what the service itself begins: the key of a caller has two parts. */
export const ownOwner = '["service"]' as OwnerKey

/** @returns whose key it is. */
export function callerOf(owner: string | undefined): {
  readonly caller?: string
  readonly issuer?: string
} {
  if (!owner?.startsWith(ownerMark)) return { caller: owner }
  const [issuer, caller] = JSON.parse(owner)
  return { caller, issuer: issuer || undefined }
}

/** Whether `owner`, of something stored, is the caller. Jobs of version 0.1.0 have the name alone. */
export function isOwner(owner: string, ctx: Context): boolean {
  const key = ownerOf(ctx)
  if (key === undefined) return false
  return owner.startsWith(ownerMark) ? owner === key : owner === ctx.state.caller?.name
}

/**
 * @returns the key of all of `ctx.state`; undefined if the function may see what the key cannot tell: a caller without
 * a name, members of hooks that name no caller, and values that are not JSON.
 */
export function sightOf(ctx: Context): SightKey | undefined {
  const { state } = ctx
  const isEmpty = Reflect.ownKeys(state).length === 0
  if (!isEmpty && (ownerOf(ctx) === undefined || !isJson(state))) return undefined
  return JSON.stringify(state) as SightKey
}

/** Whether JSON tells all of a value. Claims of tokens are; objects of classes may hold more. */
function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isJson)
  const isPlain = typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype
  if (!isPlain || Reflect.ownKeys(value).length > Object.keys(value).length) return false
  return Object.values(value).every((each) => each === undefined || isJson(each))
}
