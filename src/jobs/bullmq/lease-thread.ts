/** A thread that renews the leases of a worker, so that no function that computes loses its job. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { openRedis, type RedisScript, redisScript } from '../../core/redis.ts'
import type { HeldLease, LeaseCall, LeaseNews, LeaseState, LeaseThreadData } from './leases.ts'

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

const { url, prefix, queuePrefix, leaseMs, renewMs } = workerData as LeaseThreadData
const client = openRedis(url, 'the job store')
const renewLeases: RedisScript<LeaseState[]> = redisScript(client, 'renewLeases', renew)
const surviveLease: RedisScript<null> = redisScript(client, 'surviveLease', survive)
const post = (news: LeaseNews) => parentPort?.postMessage(news)

/** By their tokens. */
const held = new Map<string, HeldLease & { readonly endsAt: number }>()

parentPort?.on('message', (calls: readonly LeaseCall[]) => {
  for (const call of calls) {
    if (call.kind === 'hold')
      held.set(call.token, { ...call, endsAt: performance.now() + call.timeoutMs })
    else held.delete(call.token)
  }
})
void renewForever()

async function renewForever(): Promise<never> {
  for (;;) {
    await wait(renewMs)
    if (held.size > 0)
      await renewAll([...held.values()]).catch((error) => post({ kind: 'failed', error }))
  }
}

async function renewAll(
  leases: readonly (HeldLease & { readonly endsAt: number })[],
): Promise<void> {
  const now = performance.now()
  // Not behind the time of the attempt: so a function that hangs loses its job, too.
  const args = leases.flatMap(({ queue, id, token, endsAt }) => [
    queue,
    id,
    token,
    endsAt > now ? leaseMs : 0,
  ])
  const states = await renewLeases(prefix, queuePrefix, ...args)
  for (const [i, state] of states.entries()) {
    const { id, token } = leases[i]
    // A job that has ended meanwhile gave its lease back.
    if (state === 'held' || !held.has(token)) continue
    post({ kind: state, id, token })
    if (state !== 'lost') continue
    held.delete(token)
    await surviveLease(prefix, id)
  }
}
