/**
 * What a job is for those who look at it, beside BullMQ's queues, in scripts of Redis: each change of a job, of its
 * place in the lists by status, and its event are one step. Keys below the prefix `P`: `P{id}` (a hash), `P{id}:in`,
 * `P{id}:out`, `P{id}:kept` (of rows), `P{id}:events`,
 * `P{id}:names` (the jobs that run the input of this one, itself too, once it is retried),
 * `P{api}:{status}` (ids by `createdAt`), `Papis`, `Pends` (ids by the time when they
 * expire), `Plate` (ids of queued jobs by the time when they have waited for too long), `Punsent` (ids that BullMQ may
 * not have yet), `Pagain` (ids by the time of their retry), `Pkey:{hash}` (of an idempotency key),
 * `Powner:{caller}` (ids by `createdAt`), `Popen:{api}:{caller}` (open ids of an API with a quota). @module
 */
import { type Redis, type RedisScript, redisScript } from '../../core/redis.ts'
import { maxEvents } from '../job-store.ts'
import { due, oldest, page } from './list-scripts.ts'

const shared = `
local P, id = ARGV[1], ARGV[2]
local key = P .. id
local call = redis.call
-- The one clock of all servers: that of a process may be wrong.
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function append(sequence, kind, data)
  local text = cjson.encode({ sequence = sequence, at = now, kind = kind, data = data })
  return call('RPUSH', key .. ':events', text)
end
local function event(kind, data)
  if append(call('HINCRBY', key, 'events', 1), kind, data) > ${maxEvents} then call('LPOP', key .. ':events') end
  call('PUBLISH', P .. 'changed:' .. id, '')
end
local function list(api, status, createdAt, queueTtl, notBefore)
  call('ZADD', P .. api .. ':' .. status, createdAt, id)
  if status == 'queued' and queueTtl and queueTtl ~= '' then
    call('ZADD', P .. 'late', math.max(now, tonumber(notBefore) or 0) + queueTtl, id)
  end
end
local function enter(status, ...)
  local api, before, createdAt, queueTtl, notBefore, requeued =
    unpack(call('HMGET', key, 'api', 'status', 'createdAt', 'queueTtl', 'notBefore', 'requeued'))
  if before == 'queued' then call('ZREM', P .. 'late', id) end
  if before == 'queued' and requeued then call('ZREM', P .. 'again', id) end
  call('ZREM', P .. api .. ':' .. before, id)
  list(api, status, createdAt, queueTtl, notBefore)
  call('HSET', key, 'status', status, ...)
  event('status', status)
end
local function openOf(api, owner)
  return P .. 'open:' .. api .. ':' .. owner
end
local function refusal()
  local api, maxQueued, owner, maxPerCaller = ARGV[3], ARGV[4], ARGV[10], ARGV[12]
  if call('ZCARD', P .. api .. ':queued') >= tonumber(maxQueued) then return { 'full' } end
  if maxPerCaller == '' or owner == '' then return false end
  return call('SCARD', openOf(api, owner)) >= tonumber(maxPerCaller) and { 'quota' }
end
local function isLate()
  return tonumber(call('ZSCORE', P .. 'late', id) or now + 1) <= now
end
local function begin(api, new, createdAt, queueTtl, ttl, idem, blob, delivery, owner, notBefore, maxPerCaller)
  call('HSET', key, 'api', api, 'new', new, 'createdAt', createdAt, 'queueTtl', queueTtl, 'ttl', ttl, 'key', idem,
    'blob', blob, 'delivery', delivery, 'owner', owner, 'notBefore', notBefore, 'attempt', 0, 'starts', 0,
    'status', 'queued', 'events', 1)
  -- Nobody knows it, who could watch it.
  append(1, 'status', 'queued')
  list(api, 'queued', createdAt, queueTtl, notBefore)
  if owner ~= '' then
    call('ZADD', P .. 'owner:' .. owner, createdAt, id)
    if maxPerCaller ~= '' then call('SADD', openOf(api, owner), id) end
  end
  call('SADD', P .. 'apis', api)
  call('ZADD', P .. 'unsent', now, id)
end
local function beginAsked(idem, blob)
  local api, _, new, createdAt, queueTtl, ttl, delivery, owner, notBefore, maxPerCaller = unpack(ARGV, 3, 12)
  begin(api, new, createdAt, queueTtl, ttl, idem, blob, delivery, owner, notBefore, maxPerCaller)
end
local function inputOf()
  return call('HGET', key, 'input') or id
end
-- The last step of a script: the delivery that it may begin takes the place of the job.
local function finish(status)
  local job = call('HMGET', key, 'ttl', 'key', 'delivery', 'api', 'attempt', 'createdAt', 'startedAt', 'responseStatus',
    'owner')
  enter(status, 'finishedAt', now)
  if job[9] ~= '' then call('SREM', openOf(job[4], job[9] or ''), id) end
  for _, part in ipairs({ ':out', ':kept', ':events' }) do call('PEXPIRE', key .. part, job[1]) end
  local input = P .. inputOf()
  if call('SCARD', input .. ':names') < 2 then call('PEXPIRE', input .. ':in', job[1]) end
  if job[2] ~= '' then call('PEXPIRE', job[2], job[1]) end
  call('ZADD', P .. 'ends', now + job[1], id)
  if job[3] == '' then return end
  local delivery = cjson.decode(job[3])
  local ended = { id = id, api = job[4], status = status, attempt = tonumber(job[5]), createdAt = tonumber(job[6]),
    startedAt = tonumber(job[7] or nil), finishedAt = now, responseStatus = tonumber(job[8] or nil) }
  id = delivery.id
  key = P .. id
  call('SET', key .. ':in', cjson.encode(ended))
  begin(delivery.api, job[3], now, delivery.queueTtlMs or '', delivery.resultTtlMs, '', '', '', '', '', '')
end
local function isCurrent(start)
  local job = call('HMGET', key, 'status', 'starts')
  return job[1] == 'running' and job[2] == start
end
`

/** After what `argumentsOf` returns: `key, fingerprint, body, blob`; '' for what it has not. */
const add = `
local idem, fingerprint, body, blob = unpack(ARGV, 13)
-- Sent again, since a connection was lost before it got the answer.
if call('EXISTS', key) == 1 then return { 'added' } end
if idem ~= '' then
  local known = call('HMGET', idem, 'id', 'fingerprint')
  if known[1] then return { 'exists', known[1], known[2] } end
end
local refused = refusal()
if refused then return refused end
if idem ~= '' then call('HSET', idem, 'id', id, 'fingerprint', fingerprint) end
if blob == '' then call('SET', key .. ':in', body) end
beginAsked(idem, blob)
return { 'added' }
`

/** After what `argumentsOf` returns: `from`. Returns nothing if its input is gone. */
const again = `
local from = ARGV[13]
-- As for add.
if call('EXISTS', key) == 1 then return { 'added' } end
local old = call('HMGET', P .. from, 'status', 'blob', 'input', 'finishedAt', 'ttl')
if not old[1] or old[1] == 'expired' then return false end
if old[4] and old[4] + old[5] <= now then return false end
local refused = refusal()
if refused then return refused end
local input = old[3] or from
if old[2] == '' and call('EXISTS', P .. input .. ':in') == 0 then return false end
call('PERSIST', P .. input .. ':in')
call('SADD', P .. input .. ':names', from, id)
call('HSET', key, 'input', input)
beginAsked('', old[2])
return { 'added' }
`

/** Names of the hash's fields that tell what a job is, in this order. */
export const lookFields = [
  'new',
  'status',
  'createdAt',
  'attempt',
  'progress',
  'startedAt',
  'finishedAt',
  'cancel',
  'responseStatus',
  'name',
] as const

const fieldsOf = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')

/**
 * `name of the attempt`. Begins it. Returns the number of its start and the fields of its job; nothing if that has
 * ended or is late.
 */
const start = `
local job = call('HMGET', key, 'status', 'cancel', 'name', 'starts', 'attempt')
-- Else it was sent again, as for add.
if job[1] ~= 'running' or job[3] ~= ARGV[3] then
  if job[1] ~= 'queued' and job[1] ~= 'running' then return false end
  if job[2] then
    finish('canceled')
    return false
  end
  -- The sweep ends it.
  if isLate() then return false end
  enter('running', 'startedAt', now, 'name', ARGV[3], 'starts', job[4] + 1, 'attempt', job[5] + 1)
end
return call('HMGET', key, 'starts', ${fieldsOf(lookFields)})
`

/**
 * `start, status, HTTP status, answer, body or '', blob or ''`. Returns whether the answer is kept. The start is '' for
 * any, and 'late' for a job that has waited for too long.
 */
const finish = `
local start, status, http, answer, body, blob = unpack(ARGV, 3)
-- As for add: else the blob would be dropped that counts.
if blob ~= '' and call('HGET', key, 'answerBlob') == blob then return 1 end
if start == 'late' then
  if not isLate() then return 0 end
elseif start ~= '' and not isCurrent(start) then
  return 0
end
local job = call('HMGET', key, 'status', 'cancel')
if job[1] ~= 'running' and job[1] ~= 'queued' then return 0 end
if status == 'canceled' or (status == 'failed' and job[2]) then
  finish('canceled')
  return 0
end
call('HSET', key, 'responseStatus', http, 'answer', answer, 'answerBlob', blob)
if blob == '' then call('SET', key .. ':out', body) end
finish(status)
return 1
`

/**
 * `start, 1 if the attempt does not count, milliseconds until the next one`. Returns whether the job waits: not if it
 * is to end.
 */
const requeue = `
local before = call('HMGET', key, 'status', 'requeued')
-- As for add: else BullMQ would drop a job that waits.
if before[1] == 'queued' and before[2] == ARGV[3] then return 1 end
if not isCurrent(ARGV[3]) then return 0 end
if call('HEXISTS', key, 'cancel') == 1 then
  finish('canceled')
  return 0
end
if ARGV[4] == '1' then call('HINCRBY', key, 'attempt', -1) end
enter('queued')
if ARGV[5] then call('ZADD', P .. 'again', now + ARGV[5], id) end
call('HSET', key, 'requeued', ARGV[3])
return 1
`

/** `start, kind, data` */
const report = `
if not isCurrent(ARGV[3]) then return 0 end
if ARGV[4] == 'progress' then call('HSET', key, 'progress', ARGV[5]) end
event(ARGV[4], ARGV[5])
return 1
`

/**
 * `start, chunk, name of a blob or '', BullMQ's prefix of queues or ''`: see AttemptRows. A chunk that is sent again
 * says nothing new.
 */
const keep = `
if not isCurrent(ARGV[3]) then return 0 end
if ARGV[5] ~= '' then
  local names = call('HGET', key, 'keptBlobs') or ''
  call('DEL', key .. ':kept')
  -- As for add.
  if not string.find(names, ARGV[5], -#ARGV[5], true) then names = names .. ' ' .. ARGV[5] end
  call('HSET', key, 'keptBlobs', names)
end
call('RPUSH', key .. ':kept', ARGV[4])
-- BullMQ's count of the workers that died.
if ARGV[6] ~= '' then call('HDEL', ARGV[6] .. ':' .. call('HGET', key, 'api') .. ':' .. id, 'stc') end
return 1
`

/** `after, how many bytes`. Returns events in JSON: one at least, if there is one. */
const events = `
local list = key .. ':events'
local first = (call('HGET', key, 'events') or 0) - call('LLEN', list)
local from = math.max(0, ARGV[3] - first)
local found, bytes = {}, 0
while true do
  local text = call('LINDEX', list, from + #found)
  if not text then return found end
  bytes = bytes + #text
  if bytes > tonumber(ARGV[4]) and #found > 0 then return found end
  table.insert(found, text)
end
`

/** @returns the status then. */
const cancel = `
local status = call('HGET', key, 'status')
if status == 'queued' then finish('canceled') end
if status == 'running' then
  call('HSET', key, 'cancel', 1)
  call('PUBLISH', P .. 'cancel', id)
  call('PUBLISH', P .. 'changed:' .. id, '')
end
return status
`

/** `prefix of the queues`. Returns the jobs that run before this one, or -1, and the fields; a late one has expired. */
const look = `
local job = call('HMGET', key, 'api', 'status', 'finishedAt', 'ttl')
if not job[1] then return false end
local before = -1
if job[2] == 'queued' then
  local queue = ARGV[3] .. ':' .. job[1]
  local waiting = call('LLEN', queue .. ':wait')
  local rank = call('ZRANK', queue .. ':prioritized', id)
  local at = not rank and call('LPOS', queue .. ':wait', id)
  if rank then before = waiting + rank elseif at then before = waiting - 1 - at end
end
local fields = call('HMGET', key, ${fieldsOf(lookFields)})
if job[3] and job[3] + job[4] <= now then fields[${lookFields.indexOf('status') + 1}] = 'expired' end
return { before, unpack(fields) }
`

/**
 * `how long it is known, 'now' for an ended job whose time is not over`. Drops what it held, and later the job; nothing
 * if another process was faster. Returns the blobs that no job names any more.
 */
const expire = `
local blobs = {}
local job = call('HMGET', key, 'api', 'status', 'key', 'owner')
if ARGV[4] == 'now' then
  if job[2] ~= 'completed' and job[2] ~= 'failed' and job[2] ~= 'canceled' then return blobs end
  if job[3] ~= '' then call('DEL', job[3]) end
elseif tonumber(call('ZSCORE', P .. 'ends', id) or now) > now then
  return blobs
end
if not job[1] then
  call('ZREM', P .. 'ends', id)
elseif job[2] == 'expired' then
  call('ZREM', P .. job[1] .. ':expired', id)
  call('ZREM', P .. 'ends', id)
  call('ZREM', P .. 'owner:' .. (job[4] or ''), id)
  call('DEL', key)
else
  enter('expired')
  local input = P .. inputOf()
  call('SREM', input .. ':names', id)
  local kept = call('HMGET', key, 'blob', 'answerBlob', 'keptBlobs')
  if call('SCARD', input .. ':names') == 0 then
    call('DEL', input .. ':in')
    if kept[1] and kept[1] ~= '' then table.insert(blobs, kept[1]) end
  end
  if kept[2] and kept[2] ~= '' then table.insert(blobs, kept[2]) end
  for name in string.gmatch(kept[3] or '', '%S+') do table.insert(blobs, name) end
  call('DEL', key .. ':out', key .. ':kept', key .. ':events')
  call('HDEL', key, 'blob', 'answer', 'answerBlob', 'keptBlobs', 'responseStatus', 'progress')
  call('ZADD', P .. 'ends', now + ARGV[3], id)
end
return blobs
`

/** Whether a job names this blob of the job. */
const names = `
local blobs = call('HMGET', key, 'blob', 'answerBlob', 'keptBlobs')
if blobs[1] == ARGV[3] or blobs[2] == ARGV[3] then return 1 end
if string.find(' ' .. (blobs[3] or '') .. ' ', ' ' .. ARGV[3] .. ' ', 1, true) then return 1 end
return call('EXISTS', key .. ':names')
`

/** What a hash has of one of its fields. */
export type Field = string | null

/** What the scripts return. */
interface Answers {
  add: ['added' | 'full' | 'quota'] | ['exists', string, string]
  again: ['added' | 'full' | 'quota'] | null
  start: [start: string, ...fields: Field[]] | null
  finish: number
  requeue: number
  report: number
  keep: number
  events: string[]
  cancel: string | null
  look: [before: number, ...fields: Field[]] | null
  expire: string[]
  page: string[]
  oldest: number
  names: number
  due: string[]
}

/** The scripts. Each gets the id of a job first. */
export type Scripts = { readonly [K in keyof Answers]: RedisScript<Answers[K]> }

/** @returns the scripts on a connection, which get the prefix, too. */
export function jobScripts(client: Redis, prefix: string): Scripts {
  const sources = {
    add,
    again,
    start,
    finish,
    requeue,
    report,
    keep,
    events,
    cancel,
    look,
    expire,
    page,
    oldest,
    names,
    due,
  }
  const named = Object.entries(sources).map(([name, lua]) => {
    const run = redisScript<unknown>(client, `job:${name}`, shared + lua)
    const ofJob: RedisScript<unknown> = (id, ...others) => run(prefix, id, ...others)
    return [name, ofJob]
  })
  return Object.fromEntries(named) as unknown as Scripts
}
