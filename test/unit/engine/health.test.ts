import { expect, it } from 'vitest'
import { type Health, healthEndpoints, unreadyReason } from '../../../src/engine/health.ts'
import { HeaderList, HttpRequest, type HttpResponse } from '../../../src/http/message.ts'
import { visitOf } from '../../visit.ts'

it('tells that the server is ready only when it is and nothing is missing, and what is', () => {
  const health: Health = { state: 'starting' }
  let missing: string | undefined = 'the runner iris is loading its model'
  const endpoints = healthEndpoints(() => unreadyReason(health, () => missing))
  const get = (path: string) => {
    const request = new HttpRequest(new HeaderList([], []), new Uint8Array(0))
    const endpoint = endpoints.find((each) => each.path === path)!
    return endpoint.answer(request, visitOf(path, undefined, 'GET')) as HttpResponse
  }
  const readiness = () => {
    const { status = 200, body } = get('/readyz')
    return [status, body]
  }
  expect(readiness()).toEqual([503, 'starting: the runner iris is loading its model\n'])
  health.state = 'ready'
  expect(readiness()).toEqual([503, 'the runner iris is loading its model\n'])
  missing = undefined
  expect(readiness()).toEqual([200, 'ok\n'])
  health.state = 'draining'
  expect(readiness()).toEqual([503, 'draining\n'])
  missing = 'the runner iris has stopped'
  expect(get('/livez').body).toBe('ok\n')
})
