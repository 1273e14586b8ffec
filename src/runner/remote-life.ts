/** Connects a Runner with its remote model's module by a number, since arguments of models are plain data. @module */

/** The end of a remote model and its readiness. */
export interface RemoteLife {
  readonly stopped: AbortSignal
  /** Called with the reason if the model becomes unready, and with undefined if it is ready again. */
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
