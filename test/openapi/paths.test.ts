/** Which paths an OpenAPI document has: of all methods, of mounted handlers, and of the server if it is asked to. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { io, type Service, Service as ServiceClass } from 'serving'
import { apiKey } from 'serving/auth'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { describeServer } from '../../src/server/describe-server.ts'

interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: Record<'schemas' | 'securitySchemes', Record<string, unknown>>
}

interface Operation {
  readonly operationId: string
  readonly requestBody: { content: Record<string, unknown> }
}

const document = async (service: Service) =>
  (await service.inject({ path: '/openapi.json' })).json<Document>()

describe('the paths of the OpenAPI document', () => {
  it("has the application's own paths alone, unless `include` names others", async () => {
    const pathsOf = async (include?: readonly ('health' | 'connect')[]) => {
      const svc = new ServiceClass('own', include && { openapi: { include } })
      svc.api({ name: 'echo', input: new io.Text(), output: new io.Text() }, (text: string) => text)
      return Object.keys((await document(svc)).paths)
    }
    expect(await pathsOf()).toEqual(['/echo'])
    const connect = (path: string) => /Service\/\w+$/.test(path)
    const included = await pathsOf(['connect', 'health'])
    expect(included.filter((path) => !connect(path)).toSorted()).toEqual([
      '/echo',
      '/healthz',
      '/livez',
      '/readyz',
    ])
    expect(included.some(connect)).toBe(true)
    expect(() => new ServiceClass('x', { openapi: { include: ['docs' as 'oip'] } })).toThrow(
      'one of health, metrics',
    )
  })

  it('has the answers of parts and states where they are given', async () => {
    const svc = new ServiceClass('films')
    svc.get('/film', { output: new io.File() }, () => new Uint8Array(3))
    svc.get('/cached', { output: new io.JSON(), cache: { ttl: 1000 } }, () => 1)
    svc.get('/plain', { output: new io.JSON() }, () => 1)
    svc.api(
      { name: 'job', input: new io.JSON(), output: new io.File(), async: true },
      () => new Uint8Array(3),
    )
    const { paths } = await document(svc)
    const ofParts = ['206', '304', '412', '416']
    const answersOf = (path: string) =>
      Object.keys((paths[path].get as unknown as { responses: object }).responses)
    for (const path of ['/film', '/cached', '/jobs/{id}/result'])
      expect(answersOf(path)).toEqual(expect.arrayContaining(ofParts))
    for (const status of ofParts) expect(answersOf('/plain')).not.toContain(status)
  })

  it('has all methods of a path with its parameters, by their schemas', async () => {
    const svc = new ServiceClass('routes')
    const output = new io.JSON()
    const params = z.object({ id: z.coerce.number().int().describe('Which.') })
    svc.get(
      '/items/{id}',
      { output, params, query: z.object({ top: z.string() }) },
      (_, ctx) => ctx.params,
    )
    svc.put('/items/{id}', { output, input: new io.Text(), name: 'write' }, (_, ctx) => ctx.params)
    svc.delete('/items/{id}', { output }, () => null)
    const { paths } = await document(svc)
    const item = paths['/items/{id}'] as Record<
      string,
      Operation & { parameters: { name: string }[] }
    >
    expect(Object.keys(item)).toEqual(['get', 'put', 'delete'])
    expect(item.get.parameters).toMatchObject([
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'Which.',
        schema: { type: 'integer' },
      },
      { name: 'top', in: 'query', required: true, schema: { type: 'string' } },
    ])
    expect(item.put.parameters).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
    ])
    expect(Object.keys(item.put.requestBody.content)).toEqual(['text/plain'])
    expect(item.delete.operationId).toBe('delete_items_id')
    expect(item.delete.requestBody).toBeUndefined()
    expect(await new Validator().validate(JSON.parse(JSON.stringify(await document(svc))))).toEqual(
      { valid: true },
    )
  })

  it('has the documents of mounted handlers, whose components keep their meaning', async () => {
    const auth = apiKey({ keys: ['0'.repeat(64)] })
    const svc = new ServiceClass('host', { auth, publicPaths: ['/plain/y'] })
    const Item = z.object({ own: z.string() }).meta({ id: 'Item' })
    svc.api(
      { name: 'echo', input: new io.JSON({ schema: Item }), output: new io.Text() },
      ({ own }) => own,
    )
    const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const answer = {
      200: { description: 'It.', content: { 'application/json': { schema: reference('Item') } } },
    }
    const openapi = {
      openapi: '3.1.0',
      info: { title: 'app', version: '1' },
      tags: [{ name: 'app' }],
      security: [{ apiKey: [] }],
      paths: {
        '/app': { get: { operationId: 'echo', responses: answer } },
        '/app/open': { get: { operationId: 'open', security: [], responses: answer } },
      },
      components: {
        schemas: {
          Item: { type: 'object', properties: { child: reference('Other') } },
          Other: { type: 'string' },
        },
        securitySchemes: { apiKey: { type: 'apiKey', in: 'query', name: 'key' } },
      },
    }
    const plain = { get: { responses: answer } }
    svc.mount('/app', () => new Response(), { openapi })
    svc.mount('/plain', () => new Response(), {
      openapi: { ...openapi, security: undefined, paths: { '/plain/x': plain, '/plain/y': plain } },
    })
    svc.mount('/none', () => new Response())
    const whole = (await describeServer(svc, '')) as unknown as Document & {
      tags: { name: string }[]
    }
    const { schemas, securitySchemes = {} } = whole.components
    expect(Object.keys(whole.paths)).toEqual(['/plain/x', '/plain/y', '/app', '/app/open', '/echo'])
    expect(whole.paths['/plain/x'].get).toHaveProperty('security')
    expect(whole.paths['/plain/y'].get).not.toHaveProperty('security')
    expect(whole.paths['/app'].get).toMatchObject({
      operationId: 'echo_',
      security: [{ app_apiKey: [] }],
      responses: { 200: { content: { 'application/json': { schema: reference('app_Item') } } } },
    })
    expect(whole.paths['/app/open'].get).toMatchObject({ operationId: 'open', security: [] })
    expect(schemas.app_Item).toEqual({ type: 'object', properties: { child: reference('Other') } })
    expect(schemas.Item).toMatchObject({ properties: { own: { type: 'string' } } })
    expect(securitySchemes).toMatchObject({ apiKey: { in: 'header' }, app_apiKey: { in: 'query' } })
    expect(whole.tags.map(({ name }) => name)).toEqual(['host', 'app'])
    expect(await new Validator().validate(JSON.parse(JSON.stringify(whole)))).toEqual({
      valid: true,
    })
    const mount = (given: object) => () =>
      svc.mount('/new', () => new Response(), { openapi: given as never })
    expect(mount({ paths: { '/newer': {} } })).toThrow('whose paths begin with /new')
    expect(mount({})).toThrow('an OpenAPI document')
  })
})
