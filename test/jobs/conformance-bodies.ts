/** What each job store holds of bodies and events, and what ends by time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { deliveryId } from '../../src/jobs/delivery.ts'
import type { Attempt, JobStore } from '../../src/jobs/job-store.ts'
import { type StartStore, storeOfTests } from './conformance.ts'
import { completed, failed, inputText, newJob, resultText, until, untilStatus } from './stores.ts'

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
        async ({ request }) => completed(`${await inputText(request)}y`),
        () => untilStatus(store, id, 'completed'),
      )
      expect(await resultText(store, id)).toBe(`${large}y`)
    })

    it('keeps empty bodies, both ways', async () => {
      const id = await add(newJob({ api: 'empty' }, ''))
      await working(
        'empty',
        async ({ request, rows }) => {
          await rows.keep(new Uint8Array(0), false)
          expect((await rows.kept()).chunks.map(({ length }) => length)).toEqual([0])
          return completed(await inputText(request))
        },
        () => untilStatus(store, id, 'completed'),
      )
      expect(await resultText(store, id)).toBe('')
    })

    it.each([2, 2_000_000])(
      'runs an input of %d bytes as often as jobs name it, and as long',
      async (length) => {
        const api = `again ${length}`
        const input = 'x'.repeat(length)
        const job = newJob(
          { api, resultTtlMs: 1_000, webhook: undefined, idempotencyKey: 'k' },
          input,
        )
        const first = await add(job)
        const seen: string[] = []
        const run = async ({ job, state, request }: Attempt) => {
          seen.push(job.id)
          return completed(`${state} ${request.query} ${await inputText(request)}`)
        }
        await working(api, run, () => untilStatus(store, first, 'completed'))
        const own = { id: newJob().id, createdAt: Date.now(), state: '"now"', resultTtlMs: 600_000 }
        expect(await store.again(first, own, 10)).toEqual({ kind: 'added' })
        expect(await store.again(first, { id: newJob().id, createdAt: 0 }, 1)).toEqual({
          kind: 'full',
        })
        const { state: _, ...shown } = own
        expect(await store.get(own.id)).toMatchObject({
          ...shown,
          api,
          owner: 'me',
          retryOf: first,
          status: 'queued',
        })
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
      const partials = (await eventsOf(id))
        .filter(({ kind }) => kind === 'partial')
        .map(({ data }) => data)
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
        await Promise.all(
          Array.from({ length: 1_100 }, (_, i) => report('partial', `${i}`.padEnd(16 * 1024))),
        )
        return completed('')
      }
      await working('events', run, () => untilStatus(store, id, 'completed'))
      const events = await eventsOf(id)
      expect(events.length).toBeGreaterThanOrEqual(1_000)
      expect(events.length).toBeLessThanOrEqual(1_002)
      expect(dataOf(events.slice(-2)).map((text) => text.trim())).toEqual([
        'partial 1099',
        'status completed',
      ])
      expect(events.map(({ sequence }) => sequence)).toEqual(
        events.map((_, i) => 1_103 - events.length + 1 + i),
      )
    })

    it('fails a job that waits for longer than its queueTtl, and frees its input with its answer', async () => {
      const large = 'x'.repeat(2_000_000)
      const more = {
        api: 'waits',
        queueTtlMs: 50,
        resultTtlMs: 3_000,
        webhook: { url: 'https://example.com/hook' },
      }
      const id = await add(newJob(more, large))
      const patient = await add(newJob({ api: 'waits' }))
      const ended = await untilStatus(store, id, 'failed')
      expect(ended).toMatchObject({ attempt: 0, responseStatus: 504 })
      const document = JSON.parse(await resultText(store, id))
      expect(document).toMatchObject({ status: 504, code: 'waited_too_long' })
      expect(document.detail).toContain('longer than queueTtl')
      expect(dataOf(await eventsOf(id))).toEqual(['status queued', 'status failed'])
      expect(await store.get(deliveryId(id))).toMatchObject({
        status: 'queued',
        queueTtlMs: 604_800_000,
      })
      const { counts } = (await store.states()).find(({ api }) => api === 'waits') ?? {}
      expect(counts).toMatchObject({ queued: 1, failed: 1 })
      const again = { id: newJob().id, createdAt: Date.now() }
      await untilStatus(store, id, 'expired', 60_000)
      expect(await store.again(id, again, 10)).toBeUndefined()
      expect(await store.get(patient)).toMatchObject({ status: 'queued' })
    }, 70_000)

    it('never runs a job that has waited for too long', async () => {
      const first = await add(newJob({ api: 'late' }))
      const ran: string[] = []
      let isReleased = false
      const run = async ({ job }: Attempt) => {
        ran.push(job.id)
        await until(() => isReleased)
        return completed('')
      }
      await working('late', run, async () => {
        await untilStatus(store, first, 'running')
        const second = await add(newJob({ api: 'late', queueTtlMs: 1 }))
        await sleep(20)
        isReleased = true
        await untilStatus(store, second, 'failed')
      })
      expect(ran).toEqual([first])
    })

    it('counts the wait of an attempt from the end of the one before', async () => {
      const id = await add(newJob({ api: 'anew', queueTtlMs: 5_000, retries: 1 }))
      const run = async ({ number }: Attempt) => {
        if (number === 2) return completed('second')
        await sleep(5_500)
        return failed(500, true, 10)
      }
      await working('anew', run, () => untilStatus(store, id, 'completed'))
      expect(await resultText(store, id)).toBe('second')
    })

    it('lets results expire, with all that was submitted, and forgets the job later', async () => {
      const id = await add(
        newJob({ api: 'expire', resultTtlMs: 50, idempotencyKey: 'again' }, 'x'.repeat(2_000_000)),
      )
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
      expect(await store.add(newJob({ api: 'expire', idempotencyKey: 'again' }), 10)).toEqual({
        kind: 'added',
      })
    }, 130_000)
  })
}
