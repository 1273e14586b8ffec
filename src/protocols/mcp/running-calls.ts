import { ownerOf } from '../../api/caller-identity.ts'
import { ClientClosed } from '../../core/errors.ts'
import type { Context } from '../../http/context.ts'
import type { RequestId } from './messages.ts'

/** The server makes an id for each client that initializes, and forgets it. */
export const sessionHeader = 'mcp-session-id'

/**
 * The calls that run in this process. A client cancels a call of its own session by a message that comes on another
 * connection: with several workers it may come to one that does not have the call, which then runs to its end.
 */
export class RunningCalls {
  readonly #calls = new Map<string, Context>()

  /** Adds a call. Returns a function that removes it. */
  add(asked: Context, id: RequestId, call: Context): () => void {
    const key = keyOf(asked, id)
    if (key === undefined) return () => {}
    this.#calls.set(key, call)
    return () => {
      // A client may have used the number again.
      if (this.#calls.get(key) === call) this.#calls.delete(key)
    }
  }

  /** Aborts a call of the same caller and session. */
  cancel(asked: Context, id: unknown): void {
    const key = typeof id === 'string' || typeof id === 'number' ? keyOf(asked, id) : undefined
    if (key !== undefined)
      this.#calls.get(key)?.abort(new ClientClosed('the client cancelled the call'))
  }
}

/** Clients number their requests alike, so that without a session nobody knows whose call a number means. */
function keyOf(asked: Context, id: RequestId): string | undefined {
  const session = asked.headers.get(sessionHeader)
  return session === undefined ? undefined : JSON.stringify([ownerOf(asked), session, id])
}
