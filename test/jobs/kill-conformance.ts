/** What each job store holds when processes that use it are killed, stopped, or block. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { transformSync } from 'rolldown/utils'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { JobEvent } from '../../src/jobs/job.ts'
import type { JobStore } from '../../src/jobs/job-store.ts'
import type { Role, Told } from './store-process.ts'
import {
  newJob,
  openStore,
  resultText,
  type StoreSpec,
  shortTimes,
  until,
  untilStatus,
} from './stores.ts'

const source = fileURLToPath(new URL('./store-process.ts', import.meta.url))
const isTyped =
  typeof (process.features as { readonly typescript?: unknown }).typescript === 'string'
let program: Promise<string> | undefined
let folder: string | undefined
afterAll(() => folder !== undefined && rmSync(folder, { recursive: true }))

/** Node 20 cannot load TypeScript. It gets one program for all processes, which starts with a quarter of tsx's CPU. */
async function compile(): Promise<string> {
  if (isTyped) return source
  const bundle = await rolldown({
    input: source,
    platform: 'node',
    external: /^[^./]/,
    plugins: [
      {
        name: 'source-urls',
        transform(code, id) {
          const define = { 'import.meta.url': JSON.stringify(pathToFileURL(id).href) }
          return { ...transformSync(id, code, { define }), moduleType: 'js' }
        },
      },
    ],
  })
  // Where it finds our packages.
  folder = mkdtempSync(
    fileURLToPath(new URL('../../node_modules/.store-process-', import.meta.url)),
  )
  await bundle.write({ dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' })
  await bundle.close()
  return join(folder, 'store-process.mjs')
}

interface Process {
  readonly child: ChildProcess
  readonly told: Told[]
  kill(signal?: NodeJS.Signals): Promise<void>
}

/** Returns a process of its own that is ready. */
export async function startProcess(spec: StoreSpec, role: Role): Promise<Process> {
  program ??= compile()
  const child = fork(await program, [JSON.stringify(spec), JSON.stringify(role)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { PATH: process.env.PATH },
  })
  const told: Told[] = []
  child.on('message', (message: Told) => told.push(message))
  const exit = once(child, 'exit')
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    child.kill(signal)
    await exit
  }
  onTestFinished(() => kill())
  await until(() => {
    if (child.exitCode !== null)
      throw new Error(`the process has ended with code ${child.exitCode}`)
    return told.some(({ kind }) => kind === 'ready')
  })
  return { child, told, kill }
}

/** Returns what a process has told of one kind. */
export const of = <K extends Told['kind']>({ told }: Process, kind: K) =>
  told.filter((each): each is Extract<Told, { readonly kind: K }> => each.kind === kind)

/** Each test has a store of its own. */
export function survives(
  name: string,
  begin: () => Promise<{ spec: StoreSpec; stop(): Promise<void> }>,
): void {
  describe(name, () => {
    const open = async (times?: StoreSpec['times']): Promise<[StoreSpec, JobStore]> => {
      const { spec, stop } = await begin()
      onTestFinished(stop)
      const timed = { ...spec, times }
      const store = await openStore(timed)
      onTestFinished(() => store.close())
      return [timed, store]
    }
    const add = async (store: JobStore, body: string, more: Parameters<typeof newJob>[0] = {}) => {
      const job = newJob(more, body)
      expect(await store.add(job, 1_000_000)).toEqual({ kind: 'added' })
      return job.id
    }
    const worker = (spec: StoreSpec, concurrency = 1) =>
      startProcess(spec, { kind: 'work', concurrency })
    /** Returns a worker once it runs a job. */
    const busyWorker = async (spec: StoreSpec) => {
      const busy = await worker(spec)
      await until(() => of(busy, 'started').length === 1)
      return busy
    }
    /** No job may get a second final status. */
    const ends = (events: readonly JobEvent[]) =>
      events
        .filter(({ kind, data }) => kind === 'status' && !['queued', 'running'].includes(data))
        .map((e) => e.data)

    it('has each job that it has acknowledged when a submitter is killed', async () => {
      const [spec, store] = await open()
      const submitter = await startProcess(spec, { kind: 'submit', count: 100_000 })
      await until(() => of(submitter, 'added').length > 200)
      await submitter.kill()
      const added = of(submitter, 'added')
      const found = await Promise.all(added.map(({ id }) => store.get(id)))
      expect(found.filter((job) => job?.status !== 'queued')).toEqual([])
      const [state] = await store.states()
      expect(state.counts.queued).toBeGreaterThanOrEqual(added.length)
    }, 60_000)

    it('runs the jobs of a killed worker again within 15 seconds', async () => {
      const [spec, store] = await open()
      const ids = await Promise.all(
        ['hang-once', 'hang-once', 'hang-once'].map((body) => add(store, body)),
      )
      const first = await worker(spec, 3)
      await until(() => of(first, 'started').length === 3)
      const second = await worker(spec, 3)
      await first.kill()
      await Promise.all(ids.map((id) => untilStatus(store, id, 'completed', 15_000)))
      const again = of(second, 'started')
      expect(again.map(({ id, attempt }) => [id, attempt]).sort()).toEqual(
        ids.map((id) => [id, 2]).sort(),
      )
      for (const id of ids)
        expect(ends(await store.events(id, 0, 1_000_000))).toEqual(['completed'])
    }, 60_000)

    it('goes on with queued and running jobs after all processes were killed', async () => {
      const { spec: plain, stop } = await begin()
      onTestFinished(stop)
      const spec = { ...plain, times: shortTimes }
      const submitter = await startProcess(spec, { kind: 'submit', count: 100 })
      const first = await worker(spec, 2)
      const early = await openStore(spec)
      const running = await add(early, 'hang-once', { priority: 1 })
      await early.close()
      await until(
        () =>
          of(first, 'started').some(({ id }) => id === running) &&
          of(submitter, 'done').length === 1,
      )
      await Promise.all([first.kill(), submitter.kill()])
      const store = await openStore(spec)
      onTestFinished(() => store.close())
      await worker(spec, 4)
      const ids = [running, ...of(submitter, 'added').map(({ id }) => id)]
      expect(ids.length).toBe(101)
      await Promise.all(ids.map((id) => untilStatus(store, id, 'completed')))
      expect(await store.get(running)).toMatchObject({ attempt: 2 })
    }, 90_000)

    it('fails a job that kills its worker twice, by name', async () => {
      const [spec, store] = await open(shortTimes)
      const id = await add(store, 'die', { retries: 5 })
      for (let i = 0; i < 2; i++) {
        const dead = await worker(spec)
        await until(() => dead.child.signalCode === 'SIGKILL')
        expect(of(dead, 'started').length).toBe(1)
      }
      const alive = await worker(spec)
      await untilStatus(store, id, 'failed')
      expect(of(alive, 'started')).toEqual([])
      const result = await store.result(id)
      expect([result?.status, JSON.parse(await resultText(store, id)).code]).toEqual([
        500,
        'worker_died',
      ])
      expect(Object.fromEntries(result?.headers ?? [])['content-type']).toBe(
        'application/problem+json',
      )
      // Its other jobs run.
      await untilStatus(store, await add(store, 'sleep 1'), 'completed')
    }, 90_000)

    it('gives the jobs of a process that stands still to another, and drops its late answer', async () => {
      const [spec, store] = await open(shortTimes)
      const id = await add(store, 'sleep-longer-again 1000')
      const first = await busyWorker(spec)
      first.child.kill('SIGSTOP')
      const second = await busyWorker(spec)
      // Its second is over: it answers while the other one still runs.
      first.child.kill('SIGCONT')
      expect(await untilStatus(store, id, 'completed')).toMatchObject({ attempt: 2 })
      expect(await resultText(store, id)).toBe(`2 by ${second.child.pid}`)
      expect(ends(await store.events(id, 0, 1_000_000))).toEqual(['completed'])
    }, 120_000)

    it('aborts a job that runs in another process without waiting for its lease', async () => {
      const [spec, store] = await open({
        leaseMs: 7_200_000,
        renewMs: 3_600_000,
        sweepMs: 3_600_000,
      })
      const id = await add(store, 'sleep 3600000')
      const running = await busyWorker(spec)
      // Its worker may be quicker than the answer.
      const asked = await store.cancel(id)
      expect(asked).toMatchObject({ isCancelRequested: true })
      expect(['running', 'canceled']).toContain(asked?.status)
      await untilStatus(store, id, 'canceled')
      await until(() => of(running, 'aborted').length > 0)
      expect(of(running, 'aborted').map(({ code }) => code)).toEqual(['client_closed'])
    }, 60_000)

    it('cancels a job whose worker died while it was asked to end', async () => {
      const [spec, store] = await open(shortTimes)
      const id = await add(store, 'hang-once')
      const running = await busyWorker(spec)
      running.child.kill('SIGSTOP')
      await store.cancel(id)
      await running.kill()
      const next = await worker(spec)
      await untilStatus(store, id, 'canceled')
      expect(of(next, 'started')).toEqual([])
    }, 60_000)

    it('hands the jobs of a worker that stops to another, without counting an attempt', async () => {
      const [spec, store] = await open()
      const first = await worker(spec)
      const id = await add(store, `hang-in ${first.child.pid}`)
      await until(() => of(first, 'started').length === 1)
      const second = await worker(spec)
      first.child.send('stop')
      await untilStatus(store, id, 'completed')
      expect(await resultText(store, id)).toBe(`1 by ${second.child.pid}`)
      expect(of(first, 'aborted').map(({ code }) => code)).toEqual(['overloaded'])
      await until(() => of(first, 'done').length === 1)
    }, 60_000)

    it('tells watchers in other processes', async () => {
      const [spec, store] = await open()
      const id = await add(store, 'sleep 1')
      const watcher = await startProcess(spec, { kind: 'watch', id })
      await worker(spec)
      await until(() => of(watcher, 'changed').some(({ status }) => status === 'completed'))
    }, 60_000)

    it('runs the jobs of two submitters by two workers, each once', async () => {
      const [spec, store] = await open()
      // Workers first: one alone could run all jobs before the other has started.
      const workers = await Promise.all([1, 2].map(() => worker(spec, 8)))
      const submitters = await Promise.all(
        [1, 2].map(() => startProcess(spec, { kind: 'submit', count: 1_000 })),
      )
      await until(() => submitters.every((each) => of(each, 'done').length === 1), 120_000)
      const ids = submitters.flatMap((each) => of(each, 'added').map(({ id }) => id))
      expect(new Set(ids).size).toBe(2_000)
      await until(async () => (await store.states())[0].counts.completed === 2_000, 120_000)
      const started = workers.flatMap((each) => of(each, 'started'))
      expect(started.map(({ id }) => id).sort()).toEqual(ids.sort())
      expect(workers.every((each) => of(each, 'started').length > 0)).toBe(true)
      for (const id of ids)
        expect(ends(await store.events(id, 0, 1_000_000))).toEqual(['completed'])
    }, 300_000)

    it('loses no job and ends none twice while workers are killed', async () => {
      const [spec, store] = await open(shortTimes)
      const submitter = await startProcess(spec, { kind: 'submit', count: 600 })
      for (let i = 0; i < 4; i++) {
        const dying = await worker(spec, 4)
        await until(() => of(dying, 'started').length > 20)
        await dying.kill()
      }
      await until(() => of(submitter, 'done').length === 1)
      await worker(spec, 8)
      const ids = of(submitter, 'added').map(({ id }) => id)
      expect(ids.length).toBe(600)
      await until(async () => {
        const { queued, running } = (await store.states())[0].counts
        return queued + running === 0
      }, 120_000)
      for (const id of ids) {
        const events = await store.events(id, 0, 1_000_000)
        // A job that was twice in the hands of a worker that died has failed.
        expect(ends(events)).toEqual([expect.stringMatching(/^(completed|failed)$/)])
      }
      const { completed, failed } = (await store.states())[0].counts
      expect(completed + failed).toBe(600)
      expect(completed).toBeGreaterThan(580)
    }, 300_000)
  })
}
