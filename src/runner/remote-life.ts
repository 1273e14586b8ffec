/**
 * Connects a Runner with the module of its remote model by a number, since arguments of models are data alone.
 * @module
 */

/** The end of a remote model and its readiness. */
export interface RemoteLife {
  readonly stopped: AbortSignal
  /** Called when the model becomes unready, with the reason, and with undefined when it is ready again. */
  report(problem: string | undefined): void
}

const lives = new Map<number, RemoteLife>()
let count = 0

/** Stores a {@link RemoteLife} until its runner stops, and returns its number. */
export function addRemoteLife(life: RemoteLife): number {
  const number = ++count
  lives.set(number, life)
  life.stopped.addEventListener('abort', () => lives.delete(number), { once: true })
  return number
}

/** Returns the {@link RemoteLife} of that number. */
export function remoteLife(number: number): RemoteLife {
  return lives.get(number) as RemoteLife
}
