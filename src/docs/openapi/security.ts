import type { RequestHook, SecurityScheme } from '../../api/hooks.ts'
import type { ErrorDescription } from '../../descriptors/description.ts'

/** A security scheme object of OpenAPI. */
export type SchemeObject = Omit<SecurityScheme, 'scopes'>

/** Collects the schemes of a document. */
export class SecuritySchemes {
  readonly #schemes = new Map<string, SchemeObject>()

  get schemes(): Readonly<Record<string, SchemeObject>> | undefined {
    if (this.#schemes.size === 0) return undefined
    return Object.fromEntries(this.#schemes)
  }

  requirementsOf(
    auth: RequestHook | undefined,
  ): readonly Readonly<Record<string, readonly string[]>>[] {
    return Object.entries(auth?.security ?? {}).map(([name, { scopes = [], ...scheme }]) => ({
      [this.#add(name, scheme)]: scopes,
    }))
  }

  #add(preferred: string, scheme: SchemeObject): string {
    for (let i = 1; ; i++) {
      const name = i === 1 ? preferred : `${preferred}_${i}`
      const there = this.#schemes.get(name)
      if (there !== undefined && JSON.stringify(there) !== JSON.stringify(scheme)) continue
      this.#schemes.set(name, scheme)
      return name
    }
  }
}

/** @returns the errors of an API that asks who calls. */
export function authErrors(auth: RequestHook | undefined): readonly ErrorDescription[] {
  if (auth === undefined) return []
  const asksScopes = Object.values(auth.security ?? {}).some(({ scopes = [] }) => scopes.length > 0)
  const forbidden = asksScopes ? ([{ code: 'forbidden', reasons: [] }] as const) : []
  return [{ code: 'unauthorized', reasons: [] }, ...forbidden]
}
