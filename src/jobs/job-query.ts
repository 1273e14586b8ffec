/** What requests ask of jobs in text: the header `Prefer`, and what tables of options read. @module */
import type { AsyncSettings } from '../api/async-options.ts'
import { type OwnerKey, ownerKey } from '../api/caller-identity.ts'
import { BadInput, expected } from '../core/errors.ts'
import {
  duration,
  Option,
  type OptionTable,
  oneOf,
  readOptions,
  text,
  whole,
} from '../core/option.ts'
import { checkThat } from '../core/options.ts'
import type { RequestHeaders } from '../http/message.ts'
import { jobStatuses, type NewJob } from './job.ts'
import { timeOf } from './job-answers.ts'
import type { JobFilter } from './job-store.ts'

/**
 * Reads `Prefer: respond-async, wait=10`; a malformed preference counts as absent. `submission`: `respond-async` with
 * its parameters.
 *
 * @see RFC 7240.
 */
export function preferenceOf(headers: RequestHeaders) {
  let submission: string | undefined
  let wait: string | undefined
  for (const given of headers.get('prefer')?.split(',') ?? []) {
    const preference = given.trim()
    if (/^respond-async\s*(?:;|$)/i.test(preference)) submission ??= preference
    else wait ??= /^wait="?(\d{1,6})"?$/i.exec(preference)?.[1]
  }
  return {
    submission,
    isAsync: submission !== undefined,
    waitMs: Number(wait ?? 0) * 1000,
    applied: [submission, wait && `wait=${wait}`].filter(Boolean).join(', '),
  }
}

/** @returns the parameters of `respond-async; priority=5; not-before="…"`, by the names of options. */
export function parametersOf(headers: RequestHeaders): Readonly<Record<string, string>> {
  const pairs: [option: string, value: string][] = []
  const [, ...given] = preferenceOf(headers).submission?.split(';') ?? []
  for (const each of given) {
    if (each.trim() === '') continue
    const [name, ...value] = each.split('=').map((part) => part.trim())
    const option = name.toLowerCase().replace(/-(.)/g, (_, letter) => letter.toUpperCase())
    pairs.push([option, value.join('=').replace(/^"([^"]*)"$/, '$1')])
  }
  return Object.fromEntries(pairs)
}

/** A time in ISO 8601; read as milliseconds of the wall clock. */
const instant = new Option<string, number>({
  read(place, value) {
    const given = String(value).toUpperCase()
    const at = /^\d{4}-\d\d-\d\dT/.test(given) ? Date.parse(given) : Number.NaN
    checkThat(Number.isFinite(at), 'a time in ISO 8601, such as 2026-11-23T18:30:00Z', place, value)
    return at
  },
})

/** `next` of a page, of whichever store. */
const cursor = new Option<string>({
  read(place, value) {
    const given = String(value)
    checkThat(/^\d{1,15}(\.[\w-]{22})?$/.test(given), 'next of a page', place, given)
    return given
  },
})

const filterOptions = {
  api: text('<name>'),
  status: oneOf(jobStatuses),
  since: instant,
  until: instant,
  after: cursor,
  limit: whole(1, 100).or(20),
  /** For admins. */
  caller: text('<name>'),
  issuer: text('<url>'),
}

/**
 * @param given - As text, or as messages have them: an empty one is absent.
 * @returns which jobs a request lists.
 * @throws BadInput.
 */
export function filterOf(given: Readonly<Record<string, unknown>>): JobFilter {
  const { caller, issuer, ...filter } = readAsked('the list of jobs', given, filterOptions)
  return { ...filter, owner: ownerNamed(caller, issuer) }
}

/**
 * @returns the caller that a filter names; undefined for those of all.
 * @throws BadInput for an issuer alone, which would be all callers.
 */
export function ownerNamed(caller?: string, issuer?: string): OwnerKey | undefined {
  if (caller !== undefined) return ownerKey(caller, issuer)
  if (issuer !== undefined) throw new BadInput('expected a caller beside the issuer')
  return undefined
}

const submissionOptions = {
  priority: whole(0, 100),
  notBefore: instant,
  timeout: duration,
  queueTtl: duration,
  resultTtl: duration,
}

/**
 * @param given - As text, or as messages have them: an empty one is absent.
 * @returns how a job runs: as its API says, but for what its submission asks within the bounds of the API.
 * @throws BadInput.
 */
export function runOf(
  given: Readonly<Record<string, unknown>>,
  settings: AsyncSettings,
): Pick<NewJob, 'retries' | 'priority' | 'notBefore' | 'timeoutMs' | 'queueTtlMs' | 'resultTtlMs'> {
  const asked = readAsked('the submission', given, submissionOptions)
  const { maxPriority = settings.priority, maxDelay } = settings
  const bounds = { ...settings, priority: maxPriority, notBefore: Date.now() + maxDelay }
  for (const [name, value = 0] of Object.entries(asked)) {
    const most = bounds[name as keyof typeof asked]
    const show = (each: number) => (name === 'notBefore' ? timeOf(each) : each)
    if (value > most)
      throw new BadInput(
        expected(`at most ${show(most)}`, `${name} of the submission`, show(value)),
      )
  }
  const { notBefore } = asked
  return {
    retries: settings.retries,
    priority: asked.priority ?? settings.priority,
    ...(notBefore !== undefined && { notBefore }),
    timeoutMs: asked.timeout ?? settings.timeout,
    queueTtlMs: asked.queueTtl ?? settings.queueTtl,
    resultTtlMs: asked.resultTtl ?? settings.resultTtl,
  }
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
    .filter(([name, value]) => value !== '' || !Object.hasOwn(table, name))
    .map(([name, value]) => [name, isWhole(name, value) ? Number(value) : value])
  try {
    return readOptions(place, Object.fromEntries(values), table)
  } catch (error) {
    throw new BadInput((error as Error).message)
  }
}
