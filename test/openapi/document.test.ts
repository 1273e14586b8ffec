import { readFileSync } from 'node:fs'
import { validate as parse } from '@readme/openapi-parser'
import { Validator } from '@seriousme/openapi-schema-validator'
import { io, type Service, Service as ServiceClass } from 'serving'
import { apiKey, jwt } from 'serving/auth'
import { describe, expect, it } from 'vitest'
import { apisOf } from '../../src/client/description.ts'
import every from './every.service.ts'

interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly servers: unknown
  readonly components: {
    readonly schemas: Record<string, Record<string, unknown>>
    readonly securitySchemes?: Record<string, unknown>
  }
}

interface Operation {
  readonly operationId: string
  readonly tags: string[]
  readonly security?: unknown
  readonly 'x-serving'?: unknown
  readonly requestBody: {
    content: Record<string, { schema: Record<string, unknown>; example?: unknown }>
  }
  readonly responses: Record<
    string,
    { content: Record<string, { schema: Record<string, unknown> }> }
  >
}

const document = async (service: Service = every) =>
  (await service.inject({ path: '/openapi.json' })).json<Document>()

describe('the OpenAPI document', () => {
  it.each(['/openapi.json', '/docs.json'])('%s is valid by two validators', async (path) => {
    const text = (await every.inject({ path })).text()
    expect(await new Validator().validate(JSON.parse(text))).toEqual({ valid: true })
    expect(await parse(JSON.parse(text))).toMatchObject({ valid: true, warnings: [] })
  })

  it('has an operation for each API, named after it and under the tag of the service', async () => {
    const { paths } = await document()
    for (const { name, route } of every.apis.values()) {
      expect(paths[`/${route}`].post).toMatchObject({
        operationId: name,
        tags: ['Every_Descriptor'],
      })
    }
  })

  it('has live streams as the GET that is upgraded, with their messages for clients', async () => {
    const { get } = (await document()).paths['/conversation'] as Record<string, Operation>
    expect(get).toMatchObject({ operationId: 'conversation', description: 'Both ways.' })
    expect(Object.keys(get.responses)).toContain('101')
    expect(apisOf(await document()).get('conversation')).toMatchObject({
      isLive: true,
      input: { id: 'serving.io.Text', mimeTypes: ['text/plain'] },
      output: {
        id: 'serving.io.NumpyNdarray',
        mimeTypes: expect.arrayContaining(['application/x-npy']),
      },
    })
  })

  it('has requests and responses by media type, with an example', async () => {
    const { requestBody, responses } = (await document()).paths['/array'].post
    const types = ['application/json', 'application/x-flatbuffers', 'application/x-npy']
    expect(Object.keys(requestBody.content)).toEqual(types)
    expect(Object.keys(responses[200].content)).toEqual(types)
    expect(requestBody.content['application/json'].example).toEqual([[0.5, 1.5]])
    expect(requestBody.content['application/x-npy'].schema).toEqual({
      type: 'string',
      format: 'binary',
    })
  })

  it('has the problems of each API with their codes and reasons', async () => {
    const { responses } = (await document()).paths['/array'].post
    expect(responses[400].content['application/problem+json'].schema).toEqual({
      allOf: [
        { $ref: '#/components/schemas/Problem' },
        {
          type: 'object',
          properties: {
            code: { type: 'string', enum: ['bad_input'] },
            reason: { type: 'string', enum: ['syntax', 'encoding', 'ragged', 'dtype', 'shape'] },
          },
        },
      ],
    })
    const thrown = ['404', '409', '429']
    expect(Object.keys(responses).sort()).toEqual(
      ['200', '400', '413', '415', '500', '503', '504', ...thrown].sort(),
    )
  })

  it('has a problem that is what the server sends', async () => {
    const { components } = await document()
    const sent = (
      await every.inject({ path: '/total', body: { items: [{ name: 1 }] } })
    ).json<object>()
    expect(Object.keys(components.schemas.Problem.properties as object)).toEqual(
      expect.arrayContaining(Object.keys(sent)),
    )
    expect(Object.keys(sent)).toEqual(
      expect.arrayContaining(components.schemas.Problem.required as string[]),
    )
  })

  it('has the parts of a form: JSON as strings that hold it, files as bytes, many as lists', async () => {
    const { paths } = await document()
    const form = paths['/form'].post.requestBody.content['multipart/form-data']
    expect(form).toMatchObject({
      schema: {
        type: 'object',
        properties: {
          arr: {
            type: 'string',
            contentMediaType: 'application/json',
            contentSchema: { type: 'array' },
          },
          pic: { type: 'string', format: 'binary' },
        },
        required: ['arr', 'note', 'pic'],
      },
      encoding: { pic: { contentType: 'image/png, image/jpeg' } },
    })
    const upload = paths['/upload'].post.requestBody.content['multipart/form-data'].schema
    expect(upload).toMatchObject({
      properties: { images: { type: 'array', items: { format: 'binary' } } },
    })
    expect(upload.required).toBeUndefined()
  })

  it('has the named and the recursive schemas of zod as components', async () => {
    const { paths, components } = await document()
    const grown = paths['/grow'].post.requestBody.content['application/json'].schema
    expect(grown).toEqual({ $ref: '#/components/schemas/grow_request' })
    expect(components.schemas.grow_request).toMatchObject({
      properties: { children: { items: { $ref: '#/components/schemas/grow_request' } } },
    })
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(['Item', 'Problem', 'total_request_schema0']),
    )
  })

  it('has GET APIs with the parameters of their query', async () => {
    const { paths } = await document()
    const { get } = paths['/labels']
    expect(get).toMatchObject({
      operationId: 'labels',
      parameters: [
        { name: 'top', in: 'query', required: true, description: 'How many.' },
        {
          name: 'tag',
          in: 'query',
          required: false,
          schema: { type: 'array', items: { type: 'string' } },
        },
      ],
    })
    expect(Object.keys(get.responses)).toEqual([
      '200',
      '400',
      '404',
      '409',
      '429',
      '500',
      '503',
      '504',
    ])
  })

  it('has examples that the APIs answer with 200', async () => {
    const { paths } = await document()
    for (const [path, { post }] of Object.entries(paths)) {
      for (const [type, { example }] of Object.entries(
        post?.['x-serving'] === undefined ? {} : post.requestBody.content,
      )) {
        if (example === undefined) continue
        const body = Buffer.from(
          type === 'application/json' ? JSON.stringify(example) : String(example),
        )
        const { status } = await every.inject({ path, body, headers: { 'content-type': type } })
        expect([path, type, status]).toEqual([path, type, 200])
      }
    }
  })

  it('has the examples of an API by name: texts and JSON in place, others by their address', async () => {
    const svc = new ServiceClass('examples')
    const output = new io.JSON()
    const rows = { input: new io.NumpyNdarray({ dtype: 'float32' }), output, name: 'rows' }
    const long = Array.from({ length: 4000 }, (_, i) => i)
    svc.api(
      {
        ...rows,
        examples: [
          { name: 'short', input: [[1, 2.5]] },
          { name: 'long', input: long },
        ],
      },
      () => 1,
    )
    const text = {
      input: new io.Text(),
      output,
      name: 'text',
      examples: [{ name: 'a b', input: 'ü' }],
    }
    svc.api(text, () => 1)
    const pattern = new URL('../../examples/all/pattern.png', import.meta.url)
    const picture = {
      input: new io.Image(),
      output,
      name: 'picture',
      examples: [{ name: 'pattern', input: pattern }],
    }
    svc.api(picture, () => 1)
    const { paths } = await document(svc)
    const contentOf = (path: string) => paths[path].post.requestBody.content
    expect(contentOf('/rows')['application/json']).not.toHaveProperty('example')
    expect(contentOf('/rows')['application/json']).toMatchObject({
      examples: { short: { value: [[1, 2.5]] }, long: { externalValue: 'docs/examples/rows/1' } },
    })
    expect(contentOf('/text')['text/plain']).toMatchObject({ examples: { 'a b': { value: 'ü' } } })
    expect(contentOf('/picture')['image/png']).toMatchObject({
      examples: { pattern: { externalValue: 'docs/examples/picture/0' } },
    })
    const { headers, body } = await svc.inject({ path: '/docs/examples/picture/0' })
    expect(headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(body)).toEqual(readFileSync(pattern))
    expect(await new Validator().validate({ ...(await document(svc)) })).toEqual({ valid: true })
  })

  it('is not fetched again while it is the same', async () => {
    const { headers } = await every.inject({ path: '/openapi.json' })
    const etag = headers.get('etag') as string
    expect(headers.get('cache-control')).toBe('no-cache')
    const again = await every.inject({
      path: '/openapi.json',
      headers: { 'if-none-match': `"other", W/${etag}` },
    })
    expect([again.status, again.body.length, again.headers.get('etag')]).toEqual([304, 0, etag])
    const other = await every.inject({
      path: '/openapi.json',
      headers: { 'if-none-match': '"other"' },
    })
    expect(other.status).toBe(200)
  })

  it('says who may call: by the hook of the API, else of the service', async () => {
    const hash = 'a'.repeat(64)
    const claims = {
      issuer: 'https://issuer.example',
      audience: 'x',
      jwks: new URL('https://issuer.example/keys'),
    }
    const svc = new ServiceClass('guarded', {
      auth: apiKey({ keys: [hash] }),
      publicPaths: ['/openapi.json'],
    })
    const text = { input: new io.Text(), output: new io.Text() }
    svc.api({ ...text, name: 'keyed' }, (value) => value)
    svc.api({ ...text, name: 'free', auth: false }, (value) => value)
    svc.api(
      { ...text, name: 'signed', auth: jwt({ ...claims, scopes: ['read'] }) },
      (value) => value,
    )
    svc.api(
      { ...text, name: 'other', auth: apiKey({ keys: [hash], header: 'x-other' }) },
      (value) => value,
    )
    const cookies = jwt({ ...claims, scopes: ['read'], cookie: 'session' })
    svc.api({ ...text, name: 'baked', auth: cookies }, (value) => value)
    svc.api({ ...text, name: 'own', auth: () => {} }, (value) => value)
    svc.get('/list', { output: new io.JSON() }, function list() {
      return []
    })
    const found = await document(svc)
    expect(await new Validator().validate({ ...found })).toEqual({ valid: true })
    const { securitySchemes } = found.components
    expect(securitySchemes).toEqual({
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      bearer: { type: 'http', scheme: 'bearer' },
      jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      apiKey_2: { type: 'apiKey', in: 'header', name: 'x-other' },
      cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
    })
    const of = (path: string, method = 'post') => {
      const { security, responses } = found.paths[path][method]
      return [
        security,
        Object.keys(responses).filter((status) => status === '401' || status === '403'),
      ]
    }
    expect(of('/keyed')).toEqual([[{ apiKey: [] }, { bearer: [] }], ['401']])
    expect(of('/free')).toEqual([undefined, []])
    expect(of('/signed')).toEqual([[{ jwt: ['read'] }], ['401', '403']])
    expect(of('/other')).toEqual([[{ apiKey_2: [] }, { bearer: [] }], ['401']])
    expect(of('/baked')).toEqual([
      [{ jwt: ['read'] }, { cookie: ['read'] }],
      ['401', '403'],
    ])
    expect(of('/own')).toEqual([undefined, ['401']])
    expect(of('/list', 'get')).toEqual([[{ apiKey: [] }, { bearer: [] }], ['401']])
    expect((await svc.inject({ path: '/docs.json' })).status).toBe(401)
  })

  it('is a 500 that tells nothing when a descriptor fails to describe itself', async () => {
    class Broken extends io.IODescriptor<string> {
      readonly mimeType = 'text/x-broken'
      fromHttpRequest = () => ''
      toHttpResponse = () => ({ headers: [], body: '' })
      protected override formats(): io.Formats {
        throw new Error('secret')
      }
    }
    const svc = new ServiceClass('broken')
    svc.api({ input: new Broken(), output: new io.Text() }, function f() {
      return ''
    })
    const answer = await svc.inject({ path: '/openapi.json' })
    expect([answer.status, answer.text().includes('secret')]).toEqual([500, false])
    expect(answer.error?.cause).toMatchObject({ message: 'secret' })
  })

  it('survives an API of the name of a health page', async () => {
    const svc = new ServiceClass('odd', { openapi: { include: ['health'] } })
    svc.api(
      { name: 'livez', route: 'alive', input: new io.Text(), output: new io.Text() },
      (text) => text,
    )
    const { paths } = await document(svc)
    expect([paths['/alive'].post.operationId, paths['/livez'].get.operationId]).toEqual([
      'livez',
      'livez_',
    ])
  })
})
