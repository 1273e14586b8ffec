/** The option that lets an API be called asynchronously. @module */
import { checkAtLeast, checkOptions, checkThat } from '../core/options.ts'
import { type Duration, parseDuration } from '../core/text/units.ts'

/** How the jobs of an API run. */
export interface AsyncOptions {
  /**
   * Attempts after the first one, for answers of 5xx and for workers that die.
   *
   * @default 3
   */
  readonly retries?: number
  /**
   * Time for one attempt.
   *
   * @default `'30m'`
   */
  readonly timeout?: Duration
  /**
   * 0 to 100; jobs of a higher one run first.
   *
   * @default 0
   */
  readonly priority?: number
  /**
   * Jobs of this API at the same time, in each worker process.
   *
   * @default 1
   */
  readonly concurrency?: number
  /**
   * Jobs of this API that wait; more get 503.
   *
   * @default 10,000
   */
  readonly maxQueued?: number
  /**
   * How long a job waits for a worker, or for its next attempt, before it fails.
   *
   * @default `'7d'`
   */
  readonly queueTtl?: Duration
  /**
   * How long a result stays after the end of its job.
   *
   * @default `'24h'`
   */
  readonly resultTtl?: Duration
}

/** {@link AsyncOptions} with defaults. */
export interface AsyncSettings {
  readonly retries: number
  readonly timeoutMs: number
  readonly priority: number
  readonly concurrency: number
  readonly maxQueued: number
  readonly queueTtlMs: number
  readonly resultTtlMs: number
}

const optionNames = [
  'retries',
  'timeout',
  'priority',
  'concurrency',
  'maxQueued',
  'queueTtl',
  'resultTtl',
]

/**
 * @returns undefined for an API that is only called synchronously.
 * @throws InvalidArgument.
 */
export function parseAsync(
  given: boolean | AsyncOptions | undefined,
  api: string,
): AsyncSettings | undefined {
  if (given === undefined || given === false) return undefined
  const options = given === true ? {} : checkOptions(`async of ${api}`, given, optionNames)
  const {
    retries = 3,
    timeout = '30m',
    priority = 0,
    concurrency = 1,
    maxQueued = 10_000,
  } = options
  const { queueTtl = '7d', resultTtl = '24h' } = options
  checkThat(
    checkAtLeast(`priority of ${api}`, priority, 0) <= 100,
    'at most 100',
    `priority of ${api}`,
    priority,
  )
  return {
    retries: checkAtLeast(`retries of ${api}`, retries, 0),
    timeoutMs: parseDuration(`timeout of ${api}`, timeout),
    priority,
    concurrency: checkAtLeast(`concurrency of ${api}`, concurrency, 1),
    maxQueued: checkAtLeast(`maxQueued of ${api}`, maxQueued, 1),
    queueTtlMs: parseDuration(`queueTtl of ${api}`, queueTtl),
    resultTtlMs: parseDuration(`resultTtl of ${api}`, resultTtl),
  }
}
