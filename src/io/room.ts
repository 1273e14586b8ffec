import { ConcurrencyLimiter } from '../api/concurrency-limiter.ts'
import { MemoryBudget } from '../core/memory/memory-budget.ts'
import { checkAtLeast, checkOptions } from '../core/options.ts'

/** Options of {@link Room}. */
export interface RoomOptions {
  /**
   * How many requests may run at a time, else 503. One whose body is still coming does not count.
   * @default 1024
   */
  readonly maxInFlight?: number
  /**
   * Memory of all bodies and answers above 256 KiB together, in bytes; one body always fits. 0 means no limit.
   * @default 512 MiB
   */
  readonly maxMemoryBytes?: number
}

/** What the requests of one handler, or of several that share it, may take together. */
export class Room {
  /** @internal */
  readonly slots: ConcurrencyLimiter
  /** @internal */
  readonly memory: MemoryBudget

  /** @throws InvalidArgument for a wrong option. */
  constructor(options: RoomOptions = {}) {
    const { maxInFlight = 1024, maxMemoryBytes = 512 * 1024 * 1024 } = checkOptions(
      'Room',
      options,
      ['maxInFlight', 'maxMemoryBytes'],
    )
    this.slots = new ConcurrencyLimiter(checkAtLeast('maxInFlight', maxInFlight, 1))
    this.memory = new MemoryBudget(checkAtLeast('maxMemoryBytes', maxMemoryBytes, 0))
  }
}
