import { describe, expect, it } from 'vitest'
import svc, { usage } from '../../examples/production/service.ts'

const key = { 'x-api-key': 'demo' }

describe('the production example', () => {
  it('knows callers, counts what they send, and tells errors to pages', async () => {
    const origin = 'http://localhost:5173'
    const ask = (path: string, headers = {}, body?: number[][]) =>
      svc.inject({ path, headers: { origin, ...headers }, ...(body && { body }) })
    const mean = await ask('/mean', { ...key, 'x-team': 'blue' }, [
      [1, 2],
      [3, 4],
    ])
    expect([mean.status, mean.json()]).toEqual([200, [2, 3]])
    expect(mean.headers.get('ratelimit-policy')).toBe('"default";q=200;w=2')
    expect([...usage]).toEqual([['demo of blue', 13]])
    const refused = await ask('/mean', {}, [[1]])
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      401,
      origin,
    ])
    expect(refused.headers.get('x-failed')).toBe('mean')
    expect((await ask('/mean', { ...key, 'x-team': 'blocked' }, [[1]])).status).toBe(403)
    expect((await ask('/labels?top=2', key)).json()).toEqual(['setosa', 'versicolor'])
    expect((await ask('/labels?top=9', key)).status).toBe(400)
    expect((await ask('/about', key)).json()).toMatchObject({ caller: 'demo' })
    const preflight = await svc.inject({
      path: '/mean',
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-max-age')]).toEqual([
      204,
      '3600',
    ])
  })
})
