import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { eventsAnswer } from '../../src/protocols/openai/route.ts'
import { visitOf } from '../visit.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('sends a comment each 15 s of silence, also in front of the first event', async () => {
  let fail = (_: Error) => {}
  async function* slow() {
    await new Promise((resolve) => setTimeout(resolve, 20_000))
    yield 'data: 1\n\n'
    await new Promise((_, reject) => {
      fail = reject
    })
  }
  const late: string[] = []
  const answer = eventsAnswer(slow(), visitOf('/'), (error) => late.push(error.code))
  await vi.advanceTimersByTimeAsync(15_000)
  const body = (await answer).body as AsyncIterable<string>
  const events = body[Symbol.asyncIterator]()
  const next = async () => (await events.next()).value
  expect(await next()).toBe(':\n\n')
  const first = next()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await first).toBe('data: 1\n\n')
  const silent = next()
  await vi.advanceTimersByTimeAsync(15_000)
  expect(await silent).toBe(':\n\n')
  // The answer has begun: the error is its last event.
  const last = next()
  fail(new Error('a secret'))
  expect(await last).toContain('"code":"function_error"')
  expect(await next()).toBeUndefined()
  expect(late).toEqual(['function_error'])
})
