/**
 * Where models live: one contract for threads and child processes, so that a Runner does not know which it has.
 * @module
 */

/** Messages in both directions while one stream lasts. */
export interface Channel {
  post(message: unknown, transfer?: readonly ArrayBuffer[]): void
  listen(listener: (message: unknown) => void): void
  close(): void
}

/** One thread or process. */
export interface Place {
  /** For messages: `thread 3`, `process 812`. */
  readonly name: string
  /**
   * A message becomes its reply. **Errors**: {@link PlaceEnded} when the place ends before; a DataCloneError when the
   * message cannot be cloned, and then nothing has been transferred.
   */
  run(message: unknown, transfer: readonly ArrayBuffer[]): Promise<unknown>
  /** As `run`, with a channel of its own, whose far end the message's handler gets. Resolves when that handler is done. */
  open(
    message: unknown,
    transfer: readonly ArrayBuffer[],
  ): { readonly channel: Channel; readonly done: Promise<unknown> }
  /** Ends the place at once, whatever it does. */
  kill(): void
}

/** What the owner of places hears. */
export interface PlaceEvents {
  /** A new place takes messages: one of the first, or one that replaces another. */
  up(place: Place): void
  /** A place has ended; its replacement comes by itself. */
  down(place: Place, cause: PlaceEnded): void
}

/** What to start. */
export interface PlacesOptions extends PlaceEvents {
  /** Program of each place. */
  readonly entry: URL
  readonly count: number
  /** Heap limit of each place. **Units**: MiB. */
  readonly memoryLimitMb: number | undefined
}

/** A fixed number of places, each replaced when it ends. */
export interface Places {
  /** Whether buffers can be moved there; else they are copied. */
  readonly moves: boolean
  /** Ends all places. What still runs there fails with {@link PlaceEnded}. */
  stop(): Promise<void>
}

/** A thread or process ended while it was needed. */
export class PlaceEnded extends Error {
  override readonly name = 'PlaceEnded'
}
