/** Scripts of lists of jobs: see `scripts.ts`. @module */
import { maxListed } from '../job-store.ts'

/**
 * `list, time and id of the job before, api, status, how many jobs`; '' for any. Returns time and id of the last job
 * that it has looked at, '' at the end of the list, then those of the jobs that it has found.
 */
export const page = `
local list, at, last, api, status, limit = P .. ARGV[3], unpack(ARGV, 4)
local from = call('ZCOUNT', list, '(' .. at, '+inf')
local jobs = call('ZREVRANGE', list, from, from + ${maxListed} - 1, 'WITHSCORES')
local found = { '', '' }
for i = 1, #jobs, 2 do
  local each, time = jobs[i], jobs[i + 1]
  local job = call('HMGET', P .. each, 'api', 'status')
  -- Of one time, those with later names come first.
  local isBehind = time ~= at or each < last
  if isBehind and (api == '' or api == job[1]) and (status == '' or status == job[2]) then
    table.insert(found, time)
    table.insert(found, each)
  end
  if i + 1 == ${maxListed} * 2 or #found == limit * 2 + 2 then
    found[1], found[2] = time, each
    return found
  end
end
return found
`

/** `api`. Returns the age of the oldest of its jobs that may start; 0 without one. */
export const oldest = `
local since = now
local jobs = call('ZRANGE', P .. ARGV[3] .. ':queued', 0, ${maxListed}, 'WITHSCORES')
for i = 1, #jobs, 2 do
  local time = tonumber(jobs[i + 1])
  if time >= since then break end
  since = math.min(since, math.max(time, tonumber(call('HGET', P .. jobs[i], 'notBefore')) or 0))
end
return now - since
`

/** `what, milliseconds`: ids of jobs whose time in a list was over some time ago. It has no job: the id is ''. */
export const due = `
return call('ZRANGEBYSCORE', P .. ARGV[3], 0, now - ARGV[4], 'LIMIT', 0, 1000)
`
