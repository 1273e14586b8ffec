import { describe, expect, it } from 'vitest'
import { rateLimit } from '../../src/api/auth/index.ts'
import type { Service } from '../../src/index.ts'
import { twoIssuers } from '../tokens.ts'
import { bytes, engines, post, start } from './harness.ts'

describe.each(engines)('rateLimit by callers on %s', (engine) => {
  it('counts callers of two issuers apart, and a token without sub by its address', async () => {
    const { auth, as } = await twoIssuers()
    const define = (svc: Service) => {
      svc.onRequest(rateLimit({ rate: 0.001, burst: 1 }))
      svc.api({ ...bytes, name: 'echo' }, (body) => body)
    }
    const { ask } = await start(engine, define, {}, { auth })
    const statusOf = async (claims: Record<string, unknown>) =>
      (await ask(post('/echo', 'a', await as(claims)))).status
    expect([await statusOf({ sub: 'ann' }), await statusOf({ sub: 'ann' })]).toEqual([200, 429])
    expect(await statusOf({ sub: 'ann', iss: 'https://two' })).toBe(200)
    // Whoever has such tokens: all of them come from here.
    expect([await statusOf({ client: 'a' }), await statusOf({ client: 'b' })]).toEqual([200, 429])
  })
})
