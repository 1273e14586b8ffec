import { createHash } from 'node:crypto'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import { InvalidArgument, io, Service } from '../../src/index.ts'
import type { Job } from '../../src/jobs/job.ts'
import { type JobStore, listed } from '../../src/jobs/job-store.ts'
import { runSchedules } from '../../src/server/jobs/schedules.ts'
import { folder, start } from './harness.ts'
import { hasRedis, redisServer } from './redis-server.ts'
import { openStore, resultText, type StoreSpec, until } from './stores.ts'

const text = { input: new io.Text(), output: new io.Text(), async: true }
const everySecond = '* * * * * *'

/** The jobs of a store, the first one first. */
async function jobsIn(store: JobStore): Promise<Job[]> {
  const jobs: Job[] = []
  for await (const job of listed(store, { limit: 100 })) jobs.unshift(job)
  return jobs
}

async function opened(spec: StoreSpec): Promise<JobStore> {
  const store = await openStore(spec)
  onTestFinished(() => store.close())
  return store
}

describe('svc.schedule', () => {
  it('refuses what is no cron expression, no time zone, no input and no API with async', () => {
    const svc = new Service('refuses')
    const report = svc.api({ ...text, name: 'report' }, (value: string) => value)
    const plain = svc.api({ ...text, async: false, name: 'plain' }, (value: string) => value)
    const refused = (run: () => void) => {
      expect(run).toThrow(InvalidArgument)
      try {
        return run()
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(refused(() => svc.schedule('daily', report, 'x'))).toMatch(/^schedule daily of report: /)
    expect(refused(() => svc.schedule('0 25 * * *', report, 'x'))).toMatch(/^schedule 0 25/)
    const zone = { timeZone: 'Europe/Nowhere' }
    expect(refused(() => svc.schedule('0 3 * * *', report, 'x', zone))).toMatch(/^schedule 0 3/)
    expect(refused(() => svc.schedule('0 3 * * *', report, 5 as never))).toContain('schedule 0 3')
    expect(refused(() => svc.schedule('0 3 * * *', plain, 'x'))).toContain('API with async')
    const nobody = ((value: string) => value) as unknown as typeof report
    expect(refused(() => svc.schedule('0 3 * * *', nobody, 'x'))).toContain('API with async')
    expect(svc.schedules).toEqual([])
  })

  it('ticks by the clock of its time zone, and the same in all processes', () => {
    const ticksOf = (cron: string, timeZone?: string) => {
      const svc = new Service('ticks')
      const report = svc.api({ ...text, name: 'report' }, (value: string) => value)
      svc.schedule(cron, report, 'x', timeZone === undefined ? {} : { timeZone })
      const [{ tickAfter }] = svc.schedules
      return (from: string) => new Date(tickAfter(Date.parse(from))).toISOString()
    }
    expect(ticksOf('0 3 * * *')('2026-11-28T03:00:00Z')).toBe('2026-11-29T03:00:00.000Z')
    const berlin = ticksOf('30 2 * * *', 'Europe/Berlin')
    expect(berlin('2026-07-01T00:00:00Z')).toBe('2026-07-01T00:30:00.000Z')
    expect(berlin('2026-12-01T00:00:00Z')).toBe('2026-12-01T01:30:00.000Z')
    const [one, two] = [ticksOf('H H * * *'), ticksOf('H H * * *')]
    expect(one('2026-11-28T00:00:00Z')).toBe(two('2026-11-28T00:00:00Z'))
  })
})

describe('ticks of svc.schedule, when clocks are set by an hour', () => {
  const ticksOf = (cron: string, timeZone: string, from: string, to: string) => {
    const svc = new Service('ticks')
    svc.schedule(cron, svc.api({ ...text, name: 'report' }, String), 'x', { timeZone })
    const [{ tickAfter }] = svc.schedules
    const ticks: number[] = []
    for (let at = tickAfter(Date.parse(from)); at < Date.parse(to); at = tickAfter(at)) {
      ticks.push(at)
      expect(ticks.length).toBeLessThan(1_000)
    }
    return ticks.map((tick) => new Date(tick).toISOString().replace(':00.000Z', 'Z'))
  }

  it.each([
    [
      'Europe/Berlin',
      '30 2 * * *',
      '2026-03-28T12:00Z',
      ['2026-03-29T01:30Z', '2026-03-30T00:30Z'],
    ],
    [
      'Europe/Berlin',
      '30 2 * * *',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
    ],
    [
      'America/New_York',
      '0 2 * * *',
      '2026-03-07T12:00Z',
      ['2026-03-08T07:00Z', '2026-03-09T06:00Z'],
    ],
  ])('come once a day in %s: %s from %s', (zone, cron, from, expected) => {
    const to = new Date(Date.parse(from) + 2 * 86_400_000).toISOString()
    expect(ticksOf(cron, zone, from, to)).toEqual(expected)
  })

  it.each(['Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns'])(
    'come each quarter of an hour in %s',
    (zone) => {
      for (const day of [
        '2026-03-08',
        '2026-03-29',
        '2026-04-05',
        '2026-10-04',
        '2026-10-25',
        '2026-11-01',
      ]) {
        const from = `${day}T00:00Z`
        const to = new Date(Date.parse(from) + 86_400_000).toISOString()
        expect(ticksOf('*/15 * * * *', zone, from, to)).toHaveLength(95)
      }
    },
  )
})

/** What each store holds for the schedules of two servers. */
async function ticksOnce(spec: StoreSpec, jobStore: string): Promise<void> {
  const define = (svc: Service) => {
    const report = svc.api({ ...text, name: 'report' }, (value: string) => `${value}!`)
    svc.schedule(everySecond, report, 'one')
    svc.schedule(everySecond, report, 'two')
  }
  const servers = await Promise.all(
    [1, 2].map(() => start('node', define, {}, { jobs: { store: jobStore } })),
  )
  const store = await opened(spec)
  const jobs = await until(async () => {
    const ended = (await jobsIn(store)).filter(({ status }) => status === 'completed')
    return ended.length >= 6 && ended
  })
  await Promise.all(servers.map(({ listener }) => listener.close()))
  const results = new Map<string, number>()
  for (const { id } of jobs) {
    const result = await resultText(store, id)
    results.set(result, (results.get(result) ?? 0) + 1)
  }
  expect([...results.keys()].sort()).toEqual(['one!', 'two!'])
  // Of one second, there is one job of each schedule, whoever was first.
  const all = await jobsIn(store)
  const seconds = Math.ceil((Date.now() - all[0].createdAt) / 1000)
  // A server makes up for the last minute when it starts.
  expect(all.length).toBeLessThanOrEqual(2 * (60 + seconds + 1))
  expect(all.every(({ attempt }) => attempt <= 1)).toBe(true)
}

/** What each store holds for ticks when the clock of a server is a day ahead, and is then put right. */
async function ticksOfWrongClock(spec: StoreSpec): Promise<void> {
  const store = await opened(spec)
  const svc = new Service('wrong')
  svc.schedule(everySecond, svc.api({ ...text, name: 'report' }, String), 'x')
  const end = new AbortController()
  onTestFinished(() => end.abort())
  const now = Date.now
  const day = 86_400_000
  const madeFrom = async (at: number) =>
    (await jobsIn(store)).filter(({ createdAt }) => createdAt >= at && createdAt < at + day / 2)
  try {
    Date.now = () => now() + day
    runSchedules(svc, store, { debug() {}, warn() {} }, end.signal)
    await until(async () => (await madeFrom(now() + day / 2)).length > 0)
  } finally {
    Date.now = now
  }
  const right = now()
  await until(async () => (await madeFrom(right)).length > 1)
}

describe.skipIf(!isBuiltin('node:sqlite'))('schedules of jobs on SQLite', () => {
  it('make one job for each tick, however many servers run', async () => {
    const path = join(folder(), 'jobs.db')
    await ticksOnce({ kind: 'sqlite', path }, `sqlite:${path}`)
  })

  it('make the ticks of a server whose clock was a day ahead, once it is right', () =>
    ticksOfWrongClock({ kind: 'sqlite', path: join(folder(), 'jobs.db') }))

  it('make the same jobs in a version that has another schedule before them', async () => {
    const idsOf = async (isLater: boolean) => {
      const { file, listener } = await start('node', (svc) => {
        const report = svc.api({ ...text, name: 'report' }, (value: string) => value)
        if (isLater) svc.schedule('0 0 1 1 *', report, 'zero')
        for (const input of ['one', 'two']) svc.schedule('*/5 * * * * *', report, input)
      })
      const store = await opened({ kind: 'sqlite', path: file })
      // Those of the last minute.
      await until(async () => (await jobsIn(store)).length >= 24)
      await listener.close()
      return (await jobsIn(store)).map(({ id }) => id)
    }
    const [before, later] = await Promise.all([idsOf(false), idsOf(true)])
    expect(before.filter((id) => later.includes(id)).length).toBeGreaterThanOrEqual(22)
  })

  it('are of no caller, and run without hooks', async () => {
    const hash = createHash('sha256').update('ann-key').digest('hex')
    const auth = apiKey({ keys: [{ name: 'ann', hash }] })
    const define = (svc: Service) => {
      const report = svc.api({ ...text, name: 'report' }, (value: string, ctx) => {
        return `${value} ${JSON.stringify(ctx.state)}`
      })
      svc.schedule(everySecond, report, 'now')
    }
    const { file, get, log } = await start('node', define, {}, { auth })
    const store = await opened({ kind: 'sqlite', path: file })
    const [job] = await until(async () => {
      const jobs = await jobsIn(store)
      return jobs[0]?.status === 'completed' && jobs
    })
    expect(await resultText(store, job.id)).toBe('now {}')
    expect((await get(`/jobs/${job.id}`, { 'x-api-key': 'ann-key' })).status).toBe(404)
    expect(log()).toContain(`"cron":"${everySecond}"`)
  })
})

describe.skipIf(!hasRedis)('schedules of jobs on Redis', () => {
  it('make one job for each tick, however many servers run', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    await ticksOnce({ kind: 'redis', url: redis.url }, redis.url)
  })

  it('make the ticks of a server whose clock was a day ahead, once it is right', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    await ticksOfWrongClock({ kind: 'redis', url: redis.url })
  })
})
