import { redisScript } from '../../core/redis.ts'
import { deliveryApi } from '../delivery.ts'
import { jobStatuses } from '../job.ts'
import { type JobFilter, type JobPage, matches, maxListed } from '../job-store.ts'
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
  const [time, id = ''] = after.split('.')
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

/** Prefix, list and cursor. Returns the next cursor. */
const adopt = `
local P, list, cursor = unpack(ARGV)
local call = redis.call
local page = call('ZSCAN', P .. list, cursor, 'COUNT', ${maxListed})
for i = 1, #page[2], 2 do
  local id = page[2][i]
  local job = call('HMGET', P .. id, 'owner', 'new', 'createdAt')
  local owner = job[2] and not job[1] and cjson.decode(job[2]).owner
  if owner then
    call('HSET', P .. id, 'owner', owner)
    call('ZADD', P .. 'owner:' .. owner, job[3], id)
  end
end
return page[1]
`

/** Puts jobs of a version before there were lists of callers into them, once in a store. */
export async function adoptJobs({ client, prefix }: JobRecords): Promise<void> {
  const key = `${prefix}adopted`
  if ((await client.exists(key)) === 1) return
  const run = redisScript<string>(client, 'job:adopt', adopt)
  for (const api of await client.smembers(`${prefix}apis`)) {
    if (api === deliveryApi) continue
    for (const status of jobStatuses) {
      let cursor = '0'
      do cursor = await run(prefix, `${api}:${status}`, cursor)
      while (cursor !== '0')
    }
  }
  await client.set(key, '')
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
