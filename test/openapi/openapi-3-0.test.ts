import { validate as parse } from '@readme/openapi-parser'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { asOpenApi30 } from '../../src/docs/openapi/openapi-3-0.ts'
import every from './every.service.ts'

const empty = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: {} }

/** Returns a schema of 3.1 as one of 3.0. */
function schemaOf(schema: unknown): unknown {
  const { components } = asOpenApi30({ ...empty, components: { schemas: { it: schema } } })
  return (components as { schemas: Record<string, unknown> }).schemas.it
}

describe('the document in OpenAPI 3.0', () => {
  it('is answered to ?openapi=3.0, and valid by two validators', async () => {
    const answer = await every.inject({ path: '/openapi.json?openapi=3.0' })
    const document = answer.json<{ openapi: string; paths: object }>()
    expect(document.openapi).toBe('3.0.4')
    expect(document).not.toHaveProperty('jsonSchemaDialect')
    expect(await new Validator().validate(JSON.parse(answer.text()))).toEqual({ valid: true })
    expect(await parse(JSON.parse(answer.text()))).toMatchObject({ valid: true })
    const newest = (await every.inject({ path: '/openapi.json?openapi=3.1' })).json<{
      openapi: string
      paths: object
    }>()
    expect(newest.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths)).toEqual(Object.keys(newest.paths))
  })

  it('has an etag of its own', async () => {
    const tagOf = async (path: string) => (await every.inject({ path })).headers.get('etag')
    const [newest, older] = [await tagOf('/openapi.json'), await tagOf('/openapi.json?openapi=3.0')]
    expect(older).not.toBe(newest)
    const headers = { 'if-none-match': String(older) }
    expect((await every.inject({ path: '/openapi.json?openapi=3.0', headers })).status).toBe(304)
    expect((await every.inject({ path: '/openapi.json', headers })).status).toBe(200)
  })

  it('is refused in other versions', async () => {
    const answer = await every.inject({ path: '/openapi.json?openapi=2.0' })
    expect([answer.status, answer.json()]).toMatchObject([
      400,
      { detail: expect.stringContaining('3.0 or 3.1') },
    ])
  })

  it.each([
    [
      'null among types',
      { type: ['number', 'null'], minimum: 1 },
      { type: 'number', minimum: 1, nullable: true },
    ],
    [
      'several types',
      { type: ['number', 'string'] },
      { anyOf: [{ type: 'number' }, { type: 'string' }] },
    ],
    [
      'several types with null',
      { type: ['array', 'string', 'null'], items: { type: 'integer' } },
      {
        anyOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'string' }],
        items: { type: 'integer' },
        nullable: true,
      },
    ],
    ['null alone', { type: 'null' }, { nullable: true }],
    [
      'null among schemas',
      { anyOf: [{ $ref: '#/components/schemas/a' }, { type: 'null' }] },
      { anyOf: [{ $ref: '#/components/schemas/a' }], nullable: true },
    ],
    ['a constant', { const: 'a' }, { enum: ['a'] }],
    ['null as the constant', { const: null }, { nullable: true }],
    [
      'null beside words',
      { type: ['string', 'null'], enum: ['a'] },
      { type: 'string', nullable: true, enum: ['a', null] },
    ],
    [
      'exclusive bounds',
      { exclusiveMinimum: 0, exclusiveMaximum: 1 },
      {
        minimum: 0,
        exclusiveMinimum: true,
        maximum: 1,
        exclusiveMaximum: true,
      },
    ],
    [
      'an exclusive bound beyond an inclusive one',
      { minimum: 5, exclusiveMinimum: 0 },
      { minimum: 5 },
    ],
    ['examples', { type: 'string', examples: ['a', 'b'] }, { type: 'string', example: 'a' }],
    [
      'JSON in a text',
      { type: 'string', contentMediaType: 'application/json', contentSchema: {} },
      { type: 'string' },
    ],
    [
      'tuples',
      { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      { type: 'array', items: {} },
    ],
    ['lists of anything', { type: 'array' }, { type: 'array', items: {} }],
    [
      'true and false',
      { properties: { a: true, b: false } },
      { properties: { a: {}, b: { not: {} } } },
    ],
    [
      'properties of a pattern',
      { type: 'object', patternProperties: { x: {} }, additionalProperties: false },
      { type: 'object' },
    ],
    [
      'names that look like keywords',
      {
        type: 'object',
        properties: { const: { type: 'string' }, example: { type: ['string', 'null'] } },
      },
      {
        type: 'object',
        properties: { const: { type: 'string' }, example: { type: 'string', nullable: true } },
      },
    ],
    [
      'times',
      { type: 'string', format: 'date-time', pattern: 'Z$' },
      { type: 'string', format: 'date-time' },
    ],
    ['a reference', { $ref: '#/components/schemas/a' }, { $ref: '#/components/schemas/a' }],
  ])('writes %s', (_, schema, expected) => {
    expect(schemaOf(schema)).toEqual(expected)
  })
})
