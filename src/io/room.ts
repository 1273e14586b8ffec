import { ConcurrencyLimiter } from '../api/concurrency-limiter.ts'
import { MemoryBudget } from '../core/memory/memory-budget.ts'
import { type OptionsOf, readOptions, whole } from '../core/option.ts'

/** The options of {@link Room}. */
export const roomOptions = {
  /**
   * How many requests may run at a time, else 503. One whose body is still coming does not count.
   * @default 1024
   */
  maxInFlight: whole(1).or(1024),
  /**
   * Memory of all bodies and answers above 256 KiB together, in bytes; one body always fits. 0 means no limit.
   * @default 512 MiB
   */
  maxMemoryBytes: whole(0).or(512 * 1024 * 1024),
}

/** Options of {@link Room}. */
export interface RoomOptions extends OptionsOf<typeof roomOptions> {}

/** What the requests of one handler, or of several that share it, may take together. */
export class Room {
  /** @internal */
  readonly slots: ConcurrencyLimiter
  /** @internal */
  readonly memory: MemoryBudget

  /** @throws InvalidArgument for a wrong option. */
  constructor(options: RoomOptions = {}) {
    const { maxInFlight, maxMemoryBytes } = readOptions('Room', options, roomOptions)
    this.slots = new ConcurrencyLimiter(maxInFlight)
    this.memory = new MemoryBudget(maxMemoryBytes)
  }
}
