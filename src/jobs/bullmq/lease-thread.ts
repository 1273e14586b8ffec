/** A thread that renews the leases of a worker, so that no function that computes loses its job. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { openRedis, type RedisScript, redisScript } from '../../core/redis.ts'
import { leaseClock } from '../job-store.ts'
import { type LeaseNews, type LeaseThreadData, Slots } from './leases.ts'

/**
 * `prefix of records, prefix of queues`, then queue, id, token and lease of each job: a lease of 0 is not renewed.
 * Returns what became of each. It needs no memory, so that workers of a full server keep their jobs.
 */
const renew = `
local call = redis.call
local states = {}
for i = 3, #ARGV, 4 do
  local queue, id = ARGV[2] .. ':' .. ARGV[i], ARGV[i + 1]
  local lock = queue .. ':' .. id .. ':lock'
  local state = 'lost'
  if call('GET', lock) == ARGV[i + 2] then
    if ARGV[i + 3] ~= '0' then
      call('PEXPIRE', lock, ARGV[i + 3])
      call('SREM', queue .. ':stalled', id)
    end
    state = call('HEXISTS', ARGV[1] .. id, 'cancel') == 1 and 'canceled' or 'held'
  end
  table.insert(states, state)
end
return states
`

/** `prefix of records, id`. Keeps that a process which had lost the lease of a job was alive. */
const survive = `
if redis.call('EXISTS', ARGV[1] .. ARGV[2]) == 1 then redis.call('HSET', ARGV[1] .. ARGV[2], 'survived', 1) end
`

const { url, prefix, queuePrefix, leaseMs, renewMs, queues, slots } = workerData as LeaseThreadData
const client = openRedis(url, 'the job store')
const renewLeases: RedisScript<('held' | 'canceled' | 'lost')[]> = redisScript(
  client,
  'renewLeases',
  renew,
)
const surviveLease: RedisScript<null> = redisScript(client, 'surviveLease', survive)
const post = (news: LeaseNews) => parentPort?.postMessage(news)
const shared = new Slots(slots)

for (;;) {
  await wait(renewMs)
  await renewAll().catch((error) => post({ kind: 'failed', error }))
}

async function renewAll(): Promise<void> {
  const held = [...shared.lengths.keys()]
    .map((slot) => [slot, shared.read(slot)] as const)
    .filter(([, text]) => text !== '')
  if (held.length === 0) return
  const now = leaseClock()
  // Not behind the time of the attempt: so a function that hangs loses its job, too.
  const args = held.flatMap(([, text]) => {
    const [queue, id, token, endsAt] = text.split(' ')
    return [queues[Number(queue)].api, id, token, Number(endsAt) > now ? leaseMs : 0]
  })
  const states = await renewLeases(prefix, queuePrefix, ...args)
  for (const [i, kind] of states.entries()) {
    const [slot, text] = held[i]
    // A job that has ended meanwhile gave its lease back.
    if (kind === 'held' || shared.read(slot) !== text) continue
    const [, id, token] = text.split(' ')
    post({ kind, id, token })
    if (kind === 'lost') await surviveLease(prefix, id)
  }
}
