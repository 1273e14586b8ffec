/** Methods beside POST, and parameters of the path. */
import { Context, io, type Listener, type ParamsArgument, Service, serve } from 'serving'
import { createClient } from 'serving/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { silentLogger } from '../../src/engine/log.ts'
import { engines } from '../engines.ts'

const json = new io.JSON()
const params = z.object({ id: z.coerce.number().int() })

function service() {
  const svc = new Service('shop', { openapi: { include: [] } })
  const items = new Map<string, unknown>([['7', { name: 'seven' }]])
  const read = svc.get(
    '/items/{id}',
    { output: json, name: 'read' },
    (_, ctx) => items.get(ctx.params.id) ?? null,
  )
  const write = svc.put(
    '/items/{id}',
    { input: json, output: json, name: 'write' },
    (value, { params: { id } }) => {
      items.set(id, value)
      return { id, value }
    },
  )
  const change = svc.patch(
    '/items/{id}/parts/{part}',
    { input: new io.Text(), output: json, name: 'change' },
    (text, ctx) => ({ ...ctx.params, text }),
  )
  const remove = svc.delete(
    '/items/{id}',
    { output: json, params, query: z.object({ force: z.stringbool() }), name: 'remove' },
    ({ force }, ctx) => ({ id: ctx.params.id + 1, force }),
  )
  const score = svc.api(
    {
      route: 'items/{id}/score',
      input: new io.NumpyNdarray(),
      output: json,
      params,
      name: 'score',
    },
    (x, ctx: Context<{ id: number }>) => [ctx.params.id, x.size],
  )
  const top = svc.get('/items/top', { output: new io.Text(), name: 'top' }, () => 'the top')
  const plain = svc.api({ input: json, output: json, name: 'plain' }, (_, ctx) =>
    Object.keys(ctx.params),
  )
  return { svc, read, write, change, remove, score, top, plain }
}

describe.each(engines)('methods and parameters of the path on %s', (engine) => {
  let listener: Listener
  let url: string
  const send = async (method: string, path: string, body?: string) => {
    const type = method === 'PATCH' ? 'text/plain' : 'application/json'
    const sent = body === undefined ? {} : { body, headers: { 'content-type': type } }
    const response = await fetch(url + path, { method, ...sent })
    return [response.status, await response.json()]
  }

  beforeAll(async () => {
    listener = await serve(service().svc, {
      port: 0,
      engine,
      logger: silentLogger(() => {}),
      baseUrl: '/v1',
    })
    url = `http://127.0.0.1:${listener.port}/v1`
  })
  afterAll(() => listener.close())

  it('calls each method with the values of its path, percent-decoded', async () => {
    expect(await send('PUT', '/items/a%20%2Fb%C3%A4', '[1]')).toEqual([
      200,
      { id: 'a /bä', value: [1] },
    ])
    expect(await send('GET', '/items/a%20%2Fb%C3%A4')).toEqual([200, [1]])
    expect(await send('PATCH', '/items/7/parts/x', 'text')).toEqual([
      200,
      { id: '7', part: 'x', text: 'text' },
    ])
    expect(await send('DELETE', '/items/7?force=true')).toEqual([200, { id: 8, force: true }])
    expect(await send('POST', '/items/7/score', '[1,2,3]')).toEqual([200, [7, 3]])
    expect(await send('POST', '/plain', '0')).toEqual([200, []])
    expect(await (await fetch(`${url}/items/top`)).text()).toBe('the top')
    expect((await fetch(`${url}/items/7`, { method: 'HEAD' })).status).toBe(200)
  })

  it('takes bodies of PUT and PATCH in pieces, whole and longer than what is read at once', async () => {
    const long = 'x'.repeat(3_000_000)
    const [status, { text }] = (await send('PATCH', '/items/7/parts/x', long)) as [
      number,
      { text: string },
    ]
    expect([status, text.length]).toEqual([200, long.length])
  })

  it('refuses values that the schema refuses before the body is read, and names the parameter', async () => {
    const [status, problem] = await send('POST', '/items/seven/score', 'no json')
    expect(status).toBe(400)
    expect(problem).toMatchObject({ code: 'bad_input', reason: 'schema', path: 'id' })
    expect((problem as { detail: string }).detail).toContain('the schema for the path')
    expect((await send('DELETE', '/items/7'))[0]).toBe(400)
  })

  it('says which methods a path takes', async () => {
    const response = await fetch(`${url}/items/7`, { method: 'POST', body: '1' })
    expect([response.status, response.headers.get('allow')?.split(', ').toSorted()]).toEqual([
      405,
      ['DELETE', 'GET', 'HEAD', 'PUT'],
    ])
    expect((await send('GET', '/items/%ff'))[0]).toBe(400)
  })

  it('is called by the typed client, with params', async () => {
    const client = createClient<Omit<ReturnType<typeof service>, 'svc'>>(url)
    expect(await client.write({ a: 1 }, { params: { id: 'ü/1' } })).toEqual({
      id: 'ü/1',
      value: { a: 1 },
    })
    expect(await client.read(undefined, { params: { id: 'ü/1' } })).toEqual({ a: 1 })
    expect(await client.change('t', { params: { id: 1, part: 'p' } })).toEqual({
      id: '1',
      part: 'p',
      text: 't',
    })
    expect(await client.remove({ force: 'yes' } as never, { params: { id: 4 } })).toEqual({
      id: 5,
      force: true,
    })
    expect(await client.score([1, 2], { params: { id: '3' } })).toEqual([3, 2])
    await expect(client.read(undefined, { params: { id: '..' } })).rejects.toMatchObject({
      code: 'bad_input',
    })
    await expect(client.read(undefined, { params: {} as never })).rejects.toThrow(
      'a value for params.id',
    )
  })

  it('is not called by name over Connect', async () => {
    const call = (name: string) =>
      fetch(`${url}/serving.v1.ServingService/Call`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ apiName: name, json: 0 }),
      })
    expect((await call('plain')).status).toBe(200)
    expect((await call('score')).status).toBe(404)
  })
})

describe('the route of an API', () => {
  const svc = service().svc

  it('is refused if it is taken, with a parameter of any name, or is no path', () => {
    const get = (route: string) => () => svc.get(route, { output: json, name: 'new' }, () => 1)
    expect(get('/items/{id}')).toThrow('the route items/{id} belongs to the API read already')
    expect(get('/items/{key}')).toThrow('the route items/{key} belongs to the API read already')
    expect(() =>
      svc.patch('/items/{key}', { input: json, output: json, name: 'new' }, () => 1),
    ).toThrow('belongs to')
    for (const route of ['/a/:id', 'a/:id/b', ':id'])
      expect(get(route), route).toThrow(
        `expected {name} for a parameter of the route ${route}: write {id}`,
      )
    for (const route of [
      '/a/{}',
      '/a/{b',
      '/a/x{b}',
      '/a/{1}',
      '/a/{__proto__}',
      '/{a}/{a}',
      '/docs/{a}',
    ])
      expect(get(route), route).toThrow(/route|reserved/)
  })

  it('refuses options that the method has not', () => {
    expect(() => svc.get('/q', { input: json, output: json } as never, () => 1 as never)).toThrow(
      'unknown option "input"',
    )
    expect(() =>
      svc.put('/q', { input: json, output: json, cache: {} } as never, () => 1 as never),
    ).toThrow('svc.put')
    expect(() => svc.get('/q', { output: json, params }, () => ({}))).toThrow('a route with {name}')
    expect(() =>
      svc.api({ input: json, output: json, route: 'a/{b}', name: 'jobs', async: true }, () => 1),
    ).toThrow('a route without {parameters} for async of jobs')
  })

  it('names functions without a name', () => {
    const own = new Service('names')
    own.get('/a/{b}', { output: json }, () => 1)
    own.delete('/a/{b}', { output: json }, () => 1)
    expect([...own.routes.keys()]).toEqual(['a_b', 'delete_a_b'])
  })

  it('is in hooks as it came, before the schema, and in caches', async () => {
    const own = new Service('hooks')
    const seen: unknown[] = []
    own.onRequest((ctx) => void seen.push(ctx.params.id))
    const onRequest = (ctx: Context) => void seen.push(ctx.params.id)
    const cache = { ttl: '1m', maxBytes: 10_000 } as const
    own.api(
      { route: 'a/{id}', name: 'a', input: json, output: json, params, cache, onRequest },
      (_, ctx) => ctx.params,
    )
    const ask = async (id: number) =>
      (await own.inject({ path: `/a/${id}`, method: 'POST', body: 1 })).json()
    expect([await ask(1), await ask(2), await ask(1)]).toEqual([{ id: 1 }, { id: 2 }, { id: 1 }])
    expect(seen).toEqual(['1', 1, '2', 2, '1', 1])
    expect(new Context().params).toEqual({})
  })
})

/** Compiles only if `A` and `B` are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_T extends true>() => {}
holds<
  Same<
    ParamsArgument<'a/{b}/{c}', undefined>,
    { readonly b: string | number; readonly c: string | number }
  >
>()
