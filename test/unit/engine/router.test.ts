import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../../../src/api/endpoint.ts'
import { BadInput, InvalidArgument, NotFound } from '../../../src/core/errors.ts'
import { createRouter, parseBaseUrl, pathOf } from '../../../src/engine/router.ts'
import { problemResponse } from '../../../src/http/problem.ts'

function at(path: string, methods: Endpoint['methods'], name = path): Endpoint {
  return {
    name,
    path,
    methods,
    access: { kind: 'service' },
    origins: 'any',
    readsHeaders: [],
    isLimited: true,
    decompresses: false,
    answer: () => ({ headers: [], body: '' }),
    problem: problemResponse,
  }
}

const api = at('/v1/a/f', ['POST'])
const page = at('/livez', ['GET'])
const router = createRouter([api, page])
const params = {}
const errorOf = (method: string, target: string, of = router) =>
  (of.resolve(method, target) as { error: Error }).error

describe('createRouter', () => {
  it('finds paths, and gives engines those that answer POST', () => {
    expect(router.resolve('POST', '/v1/a/f')).toEqual({ endpoint: api, params })
    expect(router.resolve('GET', '/livez')).toEqual({ endpoint: page, params })
    expect(router.resolve('HEAD', '/livez')).toEqual({ endpoint: page, params })
    expect([...router.posts]).toEqual([['/v1/a/f', api]])
  })

  it('finds paths in absolute form', () => {
    expect(router.resolve('POST', pathOf('http://host:80/v1/a/f'))).toEqual({
      endpoint: api,
      params,
    })
    expect(router.resolve('GET', pathOf('HTTPS://host/livez'))).toEqual({ endpoint: page, params })
    for (const target of ['http://host', '*', '', 'host:80', 'ftp://host/livez']) {
      expect(errorOf('GET', pathOf(target))).toBeInstanceOf(NotFound)
    }
  })

  it('decodes parameters', () => {
    const infer = at('/v2/models/{model}/versions/{version}/infer', ['POST'])
    const router = createRouter([infer])
    expect(router.posts.size).toBe(0)
    expect(router.resolve('POST', '/v2/models/a%2Fb%20c/versions/1.0/infer')).toEqual({
      endpoint: infer,
      params: { model: 'a/b c', version: '1.0' },
    })
    expect(errorOf('POST', '/v2/models/%ff/versions/1/infer', router)).toBeInstanceOf(BadInput)
    for (const path of [
      '/v2/models//versions/1/infer',
      '/v2/models/a/b/versions/1/infer',
      '/v2/models/a/infer',
    ])
      expect(errorOf('POST', path, router)).toBeInstanceOf(NotFound)
  })

  it('prefers literal segments to parameters, and those to the rest of a path', () => {
    const endpoints = ['/m/*', '/m/{a}', '/m/all', '/m/{a}/x', '/m/{a}/*', '/*'].map((path) =>
      at(path, ['GET']),
    )
    const router = createRouter(endpoints)
    const found = (path: string) =>
      (router.resolve('GET', path) as { endpoint: Endpoint }).endpoint?.path
    expect(found('/m/all')).toBe('/m/all')
    expect(found('/m/1')).toBe('/m/{a}')
    expect(found('/m/1/x')).toBe('/m/{a}/x')
    expect(found('/m/1/y/z')).toBe('/m/{a}/*')
    expect(found('/m')).toBe('/m/*')
    expect(found('/m/')).toBe('/m/*')
    expect(found('/')).toBe('/*')
    for (const path of ['/n/../m', '/n/%2E.', '/n\\m', '/a\nb'])
      expect(errorOf('GET', path, router)).toBeInstanceOf(BadInput)
  })

  it('lets several endpoints share a path, each with methods of its own', () => {
    const [get, put, any] = [at('/d/{k}', ['GET']), at('/d/{k}', ['PUT']), at('/d/*', 'any')]
    const two = createRouter([get, put])
    expect(two.resolve('PUT', '/d/1')).toMatchObject({ endpoint: put })
    expect(errorOf('POST', '/d/1', two)).toMatchObject({ allow: 'GET, HEAD, PUT' })
    expect(createRouter([get, put, any]).resolve('POST', '/d/1')).toMatchObject({ endpoint: any })
    expect(() => createRouter([get, at('/d/{k}', ['POST', 'HEAD'])])).toThrow(InvalidArgument)
    expect(() => createRouter([at('/d', 'any', 'one'), at('/d', ['GET'], 'two')])).toThrow(
      'the path /d belongs to both one and two',
    )
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

  it.each(['', 'v1', '//', '/v1//', '/../x', '/a b', '/a?b', '/:name', '/*', 'http://x/'])(
    'refuses %j',
    (baseUrl) => {
      expect(() => parseBaseUrl(baseUrl)).toThrow(InvalidArgument)
    },
  )
})
