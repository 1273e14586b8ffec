/**
 * A process that opens a job store and submits or works, for tests that kill it: `store-process.ts SPEC ROLE`, both in
 * JSON. It tells its parent what happens.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attempt, Outcome } from '../../src/jobs/job-store.ts'
import { answer, inputText, newJob, openStore, type StoreSpec } from './stores.ts'

/** What the process does. A worker stops at the message `stop`. */
export type Role =
  | { readonly kind: 'submit'; readonly count: number }
  | { readonly kind: 'work'; readonly concurrency: number }
  | { readonly kind: 'watch'; readonly id: string }

/** What it tells. */
export type Told =
  | { readonly kind: 'ready' }
  | { readonly kind: 'added'; readonly id: string }
  | { readonly kind: 'started'; readonly id: string; readonly attempt: number }
  | { readonly kind: 'aborted'; readonly id: string; readonly code: string }
  | { readonly kind: 'changed'; readonly status: string }
  | { readonly kind: 'done' }

const tell = (told: Told) => process.send?.(told)
const [spec, role] = process.argv.slice(2).map((text) => JSON.parse(text)) as [StoreSpec, Role]
const store = await openStore(spec)
process.once('disconnect', () => process.exit())

/** Bodies say what to do. */
async function run({ job, request, number, signal, report }: Attempt): Promise<Outcome> {
  tell({ kind: 'started', id: job.id, attempt: number })
  signal.addEventListener('abort', () =>
    tell({ kind: 'aborted', id: job.id, code: signal.reason.code }),
  )
  const [what, ms] = (await inputText(request)).split(' ')
  // The last resort of a function that kills its process.
  if (what === 'die') process.kill(process.pid, 'SIGKILL')
  // As a function that computes: nothing else of this thread runs.
  if (what === 'block' || (what === 'block-once' && number === 1))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms))
  const isHanging =
    (what === 'hang-once' && number === 1) || (what === 'hang-in' && Number(ms) === process.pid)
  if (isHanging) await sleep(3_600_000, undefined, { signal }).catch(() => {})
  const times = what === 'sleep-longer-again' ? number * 4 - 3 : 1
  if (what.startsWith('sleep'))
    await sleep(Number(ms) * times, undefined, { signal }).catch(() => {})
  if (signal.aborted) return { kind: 'canceled' }
  await report('partial', `of ${process.pid}`)
  return { kind: 'completed', response: answer(`${number} by ${process.pid}`) }
}

if (role.kind === 'submit') {
  tell({ kind: 'ready' })
  await Promise.all(
    Array.from({ length: 16 }, async (_, i) => {
      for (let n = i; n < role.count; n += 16) {
        const job = newJob()
        await store.add(job, 1_000_000)
        tell({ kind: 'added', id: job.id })
      }
    }),
  )
  tell({ kind: 'done' })
} else if (role.kind === 'work') {
  const worker = store.work([{ api: 'a', concurrency: role.concurrency }], run)
  tell({ kind: 'ready' })
  process.once('message', async () => {
    await worker.stop(500)
    await store.close()
    tell({ kind: 'done' })
    process.disconnect()
  })
} else {
  store.watch(role.id, async () =>
    tell({ kind: 'changed', status: (await store.get(role.id))?.status ?? 'unknown' }),
  )
  await store.get(role.id)
  tell({ kind: 'ready' })
}
