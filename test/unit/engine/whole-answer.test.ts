import { Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { type Endpoint, getPage } from '../../../src/api/endpoint.ts'
import { noParams } from '../../../src/api/visit.ts'
import { BufferPool } from '../../../src/core/memory/buffer-pool.ts'
import { deferred } from '../../../src/core/promise.ts'
import { parseLimits } from '../../../src/engine/options.ts'
import { noPeer, ServedVisit } from '../../../src/engine/served-visit.ts'
import { answerWhole, collectAnswer } from '../../../src/engine/whole-answer.ts'
import { Context } from '../../../src/http/context.ts'
import { HeaderList, HttpRequest, type HttpResponse } from '../../../src/http/message.ts'
import { serverInMemory } from '../../../src/server/memory-engine.ts'

const text: HttpResponse = { headers: [], body: 'ok' }
const open = { kind: 'open', because: 'a test' } as const

async function askedOf(answer: Endpoint['answer'], fields: Record<string, string> = {}) {
  const server = await serverInMemory(new Service('whole'), parseLimits({ maxInFlight: 1 }), '')
  const endpoint: Endpoint = {
    ...getPage('/page', open, [], answer),
    isLimited: true,
    decompresses: true,
  }
  const headers = HeaderList.from(fields)
  const target = { method: 'POST', path: '/page', query: '', params: noParams }
  const visitOf = () =>
    new ServedVisit(server, { endpoint, target, ctx: new Context({ headers }) }, noPeer)
  const pool = new BufferPool()
  const buffer = pool.take(1e6)
  const request = HttpRequest.lend(headers, new Uint8Array(buffer), pool)
  const visit = visitOf()
  return {
    other: visitOf(),
    run: () => answerWhole(visit, endpoint, request),
    isBack: () => pool.takeUsed(1e6) === buffer,
  }
}

describe('a body in memory of the pool', () => {
  it('ends with an answer at once', async () => {
    const { run, isBack } = await askedOf(() => text)
    expect(await run()).toBe(text)
    expect(isBack()).toBe(true)
  })

  it('stays until a later answer', async () => {
    const { promise, resolve } = deferred<HttpResponse>()
    const { run, isBack } = await askedOf(() => promise)
    const answer = run()
    expect(isBack()).toBe(false)
    resolve(text)
    expect(await answer).toBe(text)
    expect(isBack()).toBe(true)
  })

  it('ends with the refusal for want of a slot', async () => {
    const { other, run, isBack } = await askedOf(() => text)
    expect(other.takeSlot()).toBeUndefined()
    expect(await run()).toMatchObject({ status: 503 })
    expect(isBack()).toBe(true)
    other.end(0)
  })

  it('ends with the refusal of its coding', async () => {
    const { run, isBack } = await askedOf(() => text, { 'content-encoding': 'br' })
    expect(await run()).toMatchObject({ status: 415 })
    expect(isBack()).toBe(true)
  })
})

it('collects what comes before the end that is asked for', async () => {
  const asked: string[] = []
  const body = (async function* () {
    yield 'a'
    yield 'b'
    yield 'c'
  })()
  const whole = await collectAnswer({ headers: [], body }, (chunk) => {
    asked.push(String(chunk))
    return chunk !== 'b'
  })
  expect([String(whole), asked]).toEqual(['ab', ['a', 'b']])
})
