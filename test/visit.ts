/** A visit of tests that answer endpoints without a server: nobody is refused, and memory is not counted. */

import { type Access, type RequestTarget, Visit } from '../src/api/visit.ts'
import { Context } from '../src/http/context.ts'

class TestVisit extends Visit {
  readonly target: RequestTarget

  constructor(ctx: Context, access: Access, target: RequestTarget) {
    super(ctx, access)
    this.target = target
  }

  readonly memory = { reserve: () => true, release: () => {} }

  reserve(): boolean {
    return true
  }
}

/** Returns a visit of a path. */
export function visitOf(path: string, ctx = new Context(), method = 'POST'): Visit {
  return new TestVisit(ctx, { kind: 'message' }, { method, path, query: '', params: {} })
}
