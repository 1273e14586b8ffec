/** Who asks, as a key. It is made of `ctx.state.caller`, and only here. @module */
import type { Context } from './context.ts'

declare const brand: unique symbol

/** One caller: issuer and subject of a token, or the name of a key. For jobs, idempotency keys and rate limits. */
export type OwnerKey = string & { readonly [brand]: 'owner' }

/** @returns the key of the caller; undefined without a caller, and for one without a name: a token without `sub`. */
export function ownerOf({ state: { caller } }: Context): OwnerKey | undefined {
  return caller?.name ? ownerKey(caller.name, String(caller.claims?.iss ?? '')) : undefined
}

/** @returns the key of a caller. Two issuers may give one name to two callers. Of a key it is empty. */
export function ownerKey(name: string, issuer = ''): OwnerKey {
  return JSON.stringify([issuer, name]) as OwnerKey
}
