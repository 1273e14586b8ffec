import { jobStatuses } from '../job.ts'
import { type JobFilter, type JobPage, matches } from '../job-store.ts'
import type { JobRecords } from './job-records.ts'

/** The place of a job in lists, which is its cursor, too. */
type Place = readonly [time: string, id: string]

/** @returns a page of the jobs of a caller, or of APIs. */
export async function pageOf(
  records: JobRecords,
  apis: readonly string[],
  filter: JobFilter,
): Promise<JobPage> {
  const { api, status, owner, since = 0, until = '+inf', after = `${until}.`, limit } = filter
  const [time, id] = after.split('.')
  const statuses = status === undefined ? jobStatuses : [status]
  const lists =
    owner === undefined
      ? apis.flatMap((name) => statuses.map((each) => `${name}:${each}`))
      : [`owner:${owner}`]
  const asked = [time, id, api ?? '', status ?? '', limit] as const
  const found = await Promise.all(lists.map((list) => records.scripts.page('', list, ...asked)))
  // Behind the first of their ends, a list may have jobs that it has not told.
  const end = found.flatMap((list) => placesOf(list.slice(0, 2))).sort(laterFirst)[0]
  const places = found
    .flatMap((list) => placesOf(list.slice(2)))
    .filter((place) => end === undefined || laterFirst(place, end) <= 0)
    .sort(laterFirst)
    .slice(0, limit)
  const last = places.length === limit ? places[limit - 1] : end
  const jobs = await Promise.all(places.map(([, each]) => records.job(each)))
  const page = jobs.filter((job) => job !== undefined).filter((job) => matches(job, filter))
  if (last === undefined || Number(last[0]) < since) return { jobs: page }
  return { jobs: page, next: last.join('.') }
}

/** The end of a list that is over is empty. */
function placesOf(list: readonly string[]): Place[] {
  return list.flatMap((time, i) =>
    i % 2 === 0 && time !== '' ? [[time, list[i + 1]] as const] : [],
  )
}

function laterFirst([time, id]: Place, [otherTime, other]: Place): number {
  return Number(otherTime) - Number(time) || (id < other ? 1 : -1)
}
