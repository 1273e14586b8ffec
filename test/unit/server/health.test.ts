import { expect, it } from 'vitest'
import { type Health, healthPages } from '../../../src/server/health.ts'

it('tells that the server is ready only when it is and nothing is missing, and what is', () => {
  const health: Health = { state: 'starting' }
  let missing: string | undefined = 'the runner iris is loading its model'
  const pages = healthPages(health, () => missing)
  const readiness = () => {
    const { status = 200, body } = pages.get('/readyz')?.() ?? { body: '' }
    return [status, body]
  }
  expect(readiness()).toEqual([503, 'starting\n'])
  health.state = 'ready'
  expect(readiness()).toEqual([503, 'the runner iris is loading its model\n'])
  missing = undefined
  expect(readiness()).toEqual([200, 'ok\n'])
  health.state = 'draining'
  expect(readiness()).toEqual([503, 'draining\n'])
  missing = 'the runner iris has stopped'
  expect(pages.get('/livez')?.().body).toBe('ok\n')
})
