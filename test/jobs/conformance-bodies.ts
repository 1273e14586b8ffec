/** What each job store holds of bodies, events, and the end of both. */
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Attempt, JobStore } from '../../src/jobs/job-store.ts'
import { type StartStore, storeOfTests } from './conformance.ts'
import { completed, newJob, resultText, textOf, until, untilStatus } from './stores.ts'

/** Each test has APIs of its own in one store. */
export function keepsBodies(name: string, start: StartStore): void {
  describe(name, () => {
    const { of, working, add, eventsOf, dataOf } = storeOfTests(start)
    let store: JobStore
    beforeAll(() => {
      store = of()
    })

    it('keeps large bodies, both ways', async () => {
      const large = 'x'.repeat(3 * 1024 * 1024)
      const id = await add(newJob({ api: 'large' }, large))
      await working(
        'large',
        ({ request }) => completed(`${textOf(request.body)}y`),
        () => untilStatus(store, id, 'completed'),
      )
      expect(await resultText(store, id)).toBe(`${large}y`)
    })

    it.each([2, 2_000_000])(
      'runs an input of %d bytes as often as jobs name it, and as long',
      async (length) => {
        const api = `again ${length}`
        const input = 'x'.repeat(length)
        const job = newJob({ api, resultTtlMs: 1_000, webhook: undefined, idempotencyKey: 'k' }, input)
        const first = await add(job)
        const seen: string[] = []
        const run = ({ job, state, request }: Attempt) => {
          seen.push(job.id)
          return completed(`${state} ${request.query} ${textOf(request.body)}`)
        }
        await working(api, run, () => untilStatus(store, first, 'completed'))
        const own = { id: newJob().id, createdAt: Date.now(), state: '"now"', resultTtlMs: 600_000 }
        expect(await store.again(first, own, 10)).toEqual({ kind: 'added' })
        expect(await store.again(first, { id: newJob().id, createdAt: 0 }, 1)).toEqual({ kind: 'full' })
        const { state: _, ...shown } = own
        expect(await store.get(own.id)).toMatchObject({ ...shown, api, owner: 'me', retryOf: first, status: 'queued' })
        await untilStatus(store, first, 'expired', 60_000)
        await working(api, run, () => untilStatus(store, own.id, 'completed'))
        expect(seen).toEqual([first, own.id])
        expect(await resultText(store, own.id)).toBe(`"now" x=1 ${input}`)
        const third = { id: newJob().id, createdAt: Date.now() }
        expect(await store.again(own.id, third, 10)).toEqual({ kind: 'added' })
        await working(api, run, () => untilStatus(store, third.id, 'completed'))
        expect(await resultText(store, third.id)).toBe(`"now" x=1 ${input}`)
      },
      90_000,
    )

    it('joins partials that come within a moment, and keeps no large one whole', async () => {
      const id = await add(newJob({ api: 'joined' }))
      const pieces = [...Array.from({ length: 500 }, (_, i) => `${i} `), '\u{1f600}'.repeat(20_001)]
      const run = async ({ report }: Attempt) => {
        for (const piece of pieces) await report('partial', piece)
        return completed('')
      }
      await working('joined', run, () => untilStatus(store, id, 'completed'))
      const partials = (await eventsOf(id)).filter(({ kind }) => kind === 'partial').map(({ data }) => data)
      expect(partials.join('')).toBe(pieces.join(''))
      expect(partials.length).toBeLessThan(100)
      expect(partials.every((text) => text.length <= 16 * 1024 && text.isWellFormed())).toBe(true)
    })

    it('gives events of at most as many bytes, and one at least', async () => {
      const id = await add(newJob({ api: 'bytes' }))
      const run = async ({ report }: Attempt) => {
        for (const letter of 'abc') {
          await report('partial', letter.repeat(1_000))
          await sleep(150)
        }
        return completed('')
      }
      await working('bytes', run, () => untilStatus(store, id, 'completed'))
      const firsts = async (after: number, maxBytes: number) =>
        (await store.events(id, after, maxBytes)).map(({ data }) => data[0])
      expect(await firsts(2, 2_999)).toEqual(['a', 'b'])
      expect(await firsts(2, 10)).toEqual(['a'])
      expect(await firsts(4, 5_000)).toEqual(['c', 'c'])
    })

    it('keeps the latest 1,000 events', async () => {
      const id = await add(newJob({ api: 'events' }))
      const run = async ({ report }: Attempt) => {
        await Promise.all(Array.from({ length: 1_100 }, (_, i) => report('partial', `${i}`.padEnd(16 * 1024))))
        return completed('')
      }
      await working('events', run, () => untilStatus(store, id, 'completed'))
      const events = await eventsOf(id)
      expect(events.length).toBeGreaterThanOrEqual(1_000)
      expect(events.length).toBeLessThanOrEqual(1_002)
      expect(dataOf(events.slice(-2)).map((text) => text.trim())).toEqual(['partial 1099', 'status completed'])
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => 1_103 - events.length + 1 + i))
    })

    it('lets results expire, with all that was submitted, and forgets the job later', async () => {
      const id = await add(newJob({ api: 'expire', resultTtlMs: 50, idempotencyKey: 'again' }, 'x'.repeat(2_000_000)))
      await working(
        'expire',
        () => completed('y'.repeat(2_000_000)),
        () => until(async () => (await store.get(id))?.finishedAt !== undefined),
      )
      await untilStatus(store, id, 'expired', 60_000)
      expect(await store.result(id)).toBeUndefined()
      expect(await store.again(id, newJob(), 10)).toBeUndefined()
      expect((await store.get(id))?.responseStatus).toBeUndefined()
      await until(async () => (await store.get(id)) === undefined, 60_000)
      expect(await store.add(newJob({ api: 'expire', idempotencyKey: 'again' }), 10)).toEqual({ kind: 'added' })
    }, 130_000)
  })
}
