import { io, type Service, Service as ServiceClass } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { apisOf } from '../../src/client/description.ts'
import every from './every.service.ts'

interface Operation {
  readonly summary?: string
  readonly responses: object
  readonly requestBody: { content: Record<string, { schema: Record<string, unknown> }> }
}

interface Document {
  readonly security: unknown
  readonly paths: Record<string, Record<string, Operation>>
}

const document = async (service: Service = every) =>
  (await service.inject({ path: '/openapi.json' })).json<Document>()

describe('the OpenAPI document, for generators of clients,', () => {
  it('has no parameter for the query of an API that names none', async () => {
    const { get } = (await document()).paths['/any']
    expect(get).not.toHaveProperty('parameters')
    expect(apisOf(await document()).get('anything')?.input.schema).toMatchObject({ type: 'object' })
  })

  it('has what generators of clients ask for: summaries, exact codes, no keywords beside references', async () => {
    const whole = await document()
    expect(whole.security).toEqual([])
    expect(whole.paths['/array'].post.summary).toBe('Returns the array.')
    expect(whole.paths['/text'].post.summary).toBe('text')
    for (const item of Object.values(whole.paths)) {
      for (const { summary, responses } of Object.values(item)) {
        expect(summary).toMatch(/./)
        expect(Object.keys(responses).filter((status) => !/^\d{3}$/.test(status))).toEqual([])
      }
    }
    const beside: unknown[] = []
    JSON.stringify(whole, (_, value) => {
      if (typeof value?.$ref === 'string' && Object.keys(value).length > 1) beside.push(value)
      return value
    })
    expect(beside).toEqual([])
  })

  it('names the 64 bits of integers that need them', async () => {
    const svc = new ServiceClass('wide')
    const schema = z.object({
      any: z.int(),
      small: z.int32(),
      above: z
        .number()
        .int()
        .gt(2 ** 40),
      port: z.int().max(9),
    })
    svc.api({ input: new io.JSON({ schema }), output: new io.JSON(), name: 'values' }, () => 1)
    for (const dtype of ['uint8', 'int32', 'uint32', 'int64', 'uint64'] as const) {
      svc.api(
        { input: new io.NumpyNdarray({ dtype, shape: [-1] }), output: new io.JSON(), name: dtype },
        () => 1,
      )
    }
    const { paths } = await document(svc)
    const schemaOf = (path: string) =>
      paths[path].post.requestBody.content['application/json'].schema
    expect(schemaOf('/values').properties).toMatchObject({
      any: { type: 'integer', format: 'int64' },
      above: { type: 'integer', format: 'int64' },
      port: { type: 'integer', format: 'int64' },
    })
    expect((schemaOf('/values').properties as Record<string, object>).small).not.toHaveProperty(
      'format',
      'int64',
    )
    expect(
      ['uint8', 'int32', 'uint32', 'int64', 'uint64'].map((name) => schemaOf(`/${name}`).items),
    ).toMatchObject(
      ['uint8', 'int32', 'int64', 'int64', 'int64'].map((format) => ({ type: 'integer', format })),
    )
  })
})
