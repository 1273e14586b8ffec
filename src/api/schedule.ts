/** Calls that the clock makes. @module */
import { InvalidArgument } from '../core/errors.ts'
import { loadOptional } from '../core/modules/optional.ts'
import { type OptionsOf, readOptions, text } from '../core/option.ts'
import type { Api } from './api.ts'
import { type EncodedExample, encodeExamples } from './examples.ts'

const scheduleOptions = {
  /**
   * Of the cron expression.
   *
   * @default `'UTC'`
   */
  timeZone: text('<zone>', 'a time zone, such as Europe/Berlin').or('UTC'),
}

/** Options of `svc.schedule`. */
export interface ScheduleOptions extends OptionsOf<typeof scheduleOptions> {}

/** A call that all servers of a service make together: once for each tick. */
export interface Schedule {
  readonly cron: string
  readonly timeZone: string
  readonly api: string
  readonly request: EncodedExample
  /** **Units**: milliseconds of the wall clock. */
  tickAfter(time: number): number
}

/** @throws InvalidArgument, MissingDependencyException. */
export function createSchedule(
  cron: string,
  api: Api,
  input: unknown,
  options: ScheduleOptions,
): Schedule {
  const place = `schedule ${cron} of ${api.name}`
  const { timeZone } = readOptions(place, options, scheduleOptions)
  const { CronExpressionParser } = loadOptional<typeof import('cron-parser')>(
    'cron-parser',
    '^5.10.3',
    'svc.schedule',
  )
  const tickAfter = (time: number) => {
    const settings = { currentDate: new Date(time), tz: timeZone, hashSeed: place }
    return CronExpressionParser.parse(cron, settings).next().getTime()
  }
  try {
    tickAfter(0)
  } catch (cause) {
    throw new InvalidArgument(`${place}: ${(cause as Error).message}`, { cause })
  }
  const [request] = encodeExamples([{ name: place, input }], api.input, api.name)
  return { cron, timeZone, api: api.name, request, tickAfter }
}
