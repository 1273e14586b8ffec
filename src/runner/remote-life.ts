/**
 * What a Runner and the module of its remote model tell each other; arguments of models are data alone.
 * @module
 */

/** The life of a remote model. */
export interface RemoteLife {
  /** Aborted when the runner stops. */
  readonly stopped: AbortSignal
  /** Called when the model becomes unready, with the reason, and with undefined when it is ready again. */
  report(problem: string | undefined): void
}

const lives = new Map<number, RemoteLife>()
let count = 0

/** Keeps a life until its runner stops and returns its number. */
export function addRemoteLife(life: RemoteLife): number {
  const number = ++count
  lives.set(number, life)
  life.stopped.addEventListener('abort', () => lives.delete(number), { once: true })
  return number
}

/** Returns the life of that number. */
export function remoteLife(number: number): RemoteLife {
  return lives.get(number) as RemoteLife
}
