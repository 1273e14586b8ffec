import { describe, expect, it } from 'vitest'
import { Text } from '../../../src/descriptors/text.ts'
import { InvalidArgument, MethodNotAllowed, NotFound } from '../../../src/errors.ts'
import { createRouter, parseBaseUrl } from '../../../src/server/router.ts'
import { createApi } from '../../../src/service/api.ts'

const api = createApi({ input: new Text(), output: new Text(), name: 'f', route: 'a/f' }, () => '')
const page = () => ({ headers: [], body: 'ok' })
const router = createRouter([api], '/v1', new Map([['/livez', page]]))
const errorOf = (method: string, target: string) => (router.resolve(method, target) as { error: Error }).error

describe('createRouter', () => {
  it('finds APIs below the prefix and pages at the root', () => {
    expect(router.resolve('POST', '/v1/a/f')).toEqual({ api })
    expect(router.resolve('GET', '/livez')).toEqual({ page })
    expect(router.resolve('HEAD', '/livez')).toEqual({ page })
  })

  it('finds paths in absolute form', () => {
    expect(router.resolve('POST', 'http://host:80/v1/a/f')).toEqual({ api })
    expect(router.resolve('GET', 'HTTPS://host/livez')).toEqual({ page })
    for (const target of ['http://host', '*', '', 'host:80', 'ftp://host/livez']) {
      expect(errorOf('GET', target)).toBeInstanceOf(NotFound)
    }
  })

  it('tells the methods that a path has', () => {
    expect(errorOf('GET', '/v1/a/f')).toMatchObject({ constructor: MethodNotAllowed, allow: 'POST' })
    expect(errorOf('post', '/v1/a/f')).toMatchObject({ constructor: MethodNotAllowed, allow: 'POST' })
    expect(errorOf('POST', '/livez')).toMatchObject({ constructor: MethodNotAllowed, allow: 'GET, HEAD' })
  })

  it.each(['/a/f', '/v1/a/f/', '/v1//a/f', '/V1/a/f', '/__proto__', '/v1/livez'])('does not know %s', (path) => {
    expect(errorOf('POST', path)).toBeInstanceOf(NotFound)
  })
})

describe('parseBaseUrl', () => {
  it.each([
    ['/', ''],
    ['/v1', '/v1'],
    ['/v1/', '/v1'],
    ['/a/b-c.d_~', '/a/b-c.d_~'],
  ])('%s → %j', (baseUrl, prefix) => {
    expect(parseBaseUrl(baseUrl)).toBe(prefix)
  })

  it.each(['', 'v1', '//', '/v1//', '/../x', '/a b', '/a?b', '/:name', '/*', 'http://x/'])('refuses %j', (baseUrl) => {
    expect(() => parseBaseUrl(baseUrl)).toThrow(InvalidArgument)
  })
})
