/** Keeps pages of other sites away from a server under development. @module */
import type { RequestHook } from '../api/hooks.ts'
import { Forbidden } from '../core/errors.ts'

const local = /^(?:(?:[^:]+\.)?localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i

/** Refuses requests for other hosts: by DNS rebinding, pages of a foreign site could read the answers. */
export const localHostOnly: RequestHook = Object.assign(
  ({ headers }: Parameters<RequestHook>[0]) => {
    const host = headers.get('host')
    if (host === undefined || local.test(host)) return
    throw new Forbidden('expected localhost for host, received another one; serving dev --host listens for all')
  },
  { before: 'auth' as const },
)
