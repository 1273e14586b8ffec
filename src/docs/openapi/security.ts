import type { RequestHook, SecurityScheme } from '../../api/hooks.ts'
import type { ErrorDescription } from '../../descriptors/description.ts'
import { nameFor } from './components.ts'

/** A security scheme object of OpenAPI. */
export type SchemeObject = Omit<SecurityScheme, 'scopes'>

/** Collects the schemes of a document. */
export class SecuritySchemes {
  readonly #schemes = new Map<string, SchemeObject>()
  readonly #meanings = new Map<string, string>()

  get schemes(): Readonly<Record<string, SchemeObject>> | undefined {
    if (this.#schemes.size === 0) return undefined
    return Object.fromEntries(this.#schemes)
  }

  requirementsOf(
    auth: RequestHook | undefined,
  ): readonly Readonly<Record<string, readonly string[]>>[] {
    return Object.entries(auth?.security ?? {}).map(([preferred, { scopes = [], ...scheme }]) => {
      const name = nameFor(JSON.stringify(scheme), this.#meanings, preferred)
      this.#schemes.set(name, scheme)
      return { [name]: scopes }
    })
  }
}

/** @returns the errors of an API that asks who calls. */
export function authErrors(auth: RequestHook | undefined): readonly ErrorDescription[] {
  if (auth === undefined) return []
  const asksScopes = Object.values(auth.security ?? {}).some(({ scopes = [] }) => scopes.length > 0)
  const forbidden = asksScopes ? ([{ code: 'forbidden', reasons: [] }] as const) : []
  return [{ code: 'unauthorized', reasons: [] }, ...forbidden]
}
