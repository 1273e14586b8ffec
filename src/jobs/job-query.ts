/** What requests ask of jobs in text, read by tables of options. @module */
import { BadInput } from '../core/errors.ts'
import { Option, type OptionTable, oneOf, readOptions, text, whole } from '../core/option.ts'
import { checkThat } from '../core/options.ts'
import { jobStatuses } from './job.ts'
import type { JobFilter } from './job-store.ts'

/** A time in ISO 8601; read as milliseconds of the wall clock. */
const instant = new Option<string, number>({
  read(place, value) {
    const given = String(value).toUpperCase()
    const at = /^\d{4}-\d\d-\d\dT/.test(given) ? Date.parse(given) : Number.NaN
    checkThat(Number.isFinite(at), 'a time in ISO 8601, such as 2026-11-23T18:30:00Z', place, value)
    return at
  },
})

const filterOptions = {
  api: text('<name>'),
  status: oneOf(jobStatuses),
  since: instant,
  until: instant,
  after: text('<cursor>'),
  limit: whole(1, 100).or(20),
}

/**
 * @param given - As text, or as messages have them: an empty one is absent.
 * @returns which jobs a request lists.
 * @throws BadInput.
 */
export function filterOf(given: Readonly<Record<string, unknown>>): JobFilter {
  return readAsked('the list of jobs', given, filterOptions)
}

function readAsked<T extends OptionTable>(
  place: string,
  given: Readonly<Record<string, unknown>>,
  table: T,
) {
  const isWhole = (name: string, value: unknown) =>
    Object.hasOwn(table, name) &&
    table[name].parts.schema?.type === 'integer' &&
    /^\d{1,15}$/.test(String(value))
  const values = Object.entries(given)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [name, isWhole(name, value) ? Number(value) : value])
  try {
    return readOptions(place, Object.fromEntries(values), table)
  } catch (error) {
    throw new BadInput((error as Error).message)
  }
}
