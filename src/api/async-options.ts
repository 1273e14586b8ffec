/** The option that lets an API be called asynchronously. @module */
import { duration, type OptionsOf, readOptions, type SettingsOf, whole } from '../core/option.ts'

/** The options of jobs. */
export const asyncOptions = {
  /**
   * More attempts after a 5xx or a dead worker.
   *
   * @default 3
   */
  retries: whole(0).or(3),
  /**
   * Time for one attempt, then 504.
   *
   * @default `'30m'`
   */
  timeout: duration.or('30m'),
  /**
   * 0 to 100; jobs of a higher one run first.
   *
   * @default 0
   */
  priority: whole(0, 100).or(0),
  /**
   * Highest priority that a submission may ask for.
   *
   * @default `priority`
   */
  maxPriority: whole(0, 100),
  /**
   * How far off the start may be that a submission asks for.
   *
   * @default `'7d'`
   */
  maxDelay: duration.or('7d'),
  /**
   * Jobs of this API at a time, in each worker process.
   *
   * @default 1
   */
  concurrency: whole(1).or(1),
  /**
   * Rows of jobs of this API at a time, in each worker process: those that run, and those whose answers are written.
   *
   * @default 256
   */
  rowsAtOnce: whole(1).or(192),
  /**
   * Rows of one job; more get 413.
   *
   * @default 1,000,000
   */
  maxRows: whole(1).or(1_000_000),
  /**
   * Jobs of this API that wait; more get 503.
   *
   * @default 10,000
   */
  maxQueued: whole(1).or(10_000),
  /**
   * Jobs of this API and one caller that wait or run; more get 429. Those of before it was set do not count.
   *
   * @default no limit
   */
  maxPerCaller: whole(1),
  /**
   * How long a job may wait, then 504. The time counts for a worker, or for its next attempt.
   *
   * @default `'7d'`
   */
  queueTtl: duration.or('7d'),
  /**
   * How long a result stays after the end of its job.
   *
   * @default `'24h'`
   */
  resultTtl: duration.or('24h'),
}

/** How the jobs of an API run. */
export interface AsyncOptions extends OptionsOf<typeof asyncOptions> {}

/** {@link AsyncOptions} with defaults. **Units**: milliseconds. */
export interface AsyncSettings extends SettingsOf<typeof asyncOptions> {}

/** @returns undefined for an API that is only called synchronously. @throws InvalidArgument. */
export function parseAsync(
  place: string,
  given: boolean | AsyncOptions | undefined,
): AsyncSettings | undefined {
  if (given === undefined || given === false) return undefined
  return readOptions(place, given === true ? {} : given, asyncOptions)
}
