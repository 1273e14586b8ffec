import Ajv from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { BadInput } from '../../src/core/errors.ts'
import { misfitOf } from '../../src/protocols/openai/completion.ts'

const ajv = new Ajv.default({ strict: false })
const values = [
  null,
  true,
  0,
  5,
  0.3,
  -1,
  '',
  'a',
  'ab',
  '😀',
  [],
  [1],
  [1, 'a'],
  {},
  { a: 1 },
  { a: 'x', b: 2 },
  { a: { a: { a: null } } },
  { next: { next: {} } },
]

const schemas: readonly (object | boolean)[] = [
  true,
  false,
  {},
  ...['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'].map((type) => ({
    type,
  })),
  { type: ['string', 'null'] },
  { const: 5 },
  { const: { a: 1 } },
  { enum: ['a', 5, null, [1]] },
  { minimum: 0, maximum: 5 },
  { exclusiveMinimum: 0, exclusiveMaximum: 5 },
  { multipleOf: 5 },
  { minLength: 1, maxLength: 1 },
  { minItems: 1, maxItems: 1 },
  { items: { type: 'number' } },
  { prefixItems: [{ type: 'number' }, { type: 'string' }], items: false },
  { required: ['a'] },
  { properties: { a: { type: 'number' } } },
  { properties: { a: true }, additionalProperties: false },
  { additionalProperties: { type: 'number' } },
  { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] },
  { oneOf: [{ type: 'number' }, { minimum: 5 }] },
  { allOf: [{ type: 'number' }, { minimum: 1 }] },
  { $ref: '#/$defs/a', $defs: { a: { type: 'number' } } },
  { $ref: '#/$defs/a~1b~0', $defs: { 'a/b~': { type: 'number' } } },
  { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false },
]

it.each(schemas.map((schema) => [JSON.stringify(schema), schema] as const))(
  'fits as ajv says: %s',
  (_, schema) => {
    const validate = ajv.compile(schema)
    const fits = values.map((value) => misfitOf(value, schema) === undefined)
    expect(fits).toEqual(values.map((value) => validate(value)))
  },
)

it('tells where a value does not fit', () => {
  const schema = {
    properties: { list: { items: { properties: { x: { type: ['integer', 'null'] } } } } },
  }
  expect(misfitOf({ list: [{}, { x: 'a' }] }, schema)).toBe(
    'a value of type integer or null for list[1].x',
  )
  expect(misfitOf({ x: 0.3 }, { properties: { x: { multipleOf: 0.1 } } })).toBeUndefined()
})

const words = Array.from({ length: 5_000 }, (_, i) => `word ${i}`)
const many = (schema: object) => ({
  allOf: Array.from({ length: 2_000 }, () => ({ $ref: '#/$defs/a' })),
  $defs: { a: schema },
})
const eachOf = (schema: object) => ({ items: { anyOf: [schema, {}] } })
const named = (value: unknown) => Object.fromEntries(words.map((word) => [word, value]))

it.each([
  ['a long reference', many({ $ref: `#/${'x/'.repeat(10_000)}` }), 1],
  ['many types', many({ type: words }), 1],
  ['a large constant', eachOf({ const: named(1) }), Array(2_000).fill({})],
  ['objects among words', eachOf({ enum: Array(10).fill(named(1)) }), Array(2_000).fill({})],
  ['a long text', many({ minLength: 1 }), 'x'.repeat(100_000)],
])('gives up a schema that looks too often at %s', (_, schema, value) => {
  expect(() => misfitOf(value, schema)).toThrow(/expected a schema that takes at most/)
})

it.each([
  [{ required: [{ toString: 1 }] }, {}],
  [{ type: { toString: 1 } }, ''],
  [{ format: { toString: 1 } }, ''],
])('refuses a schema that no text can show: %j', (schema, value) => {
  expect(() => misfitOf(value, schema)).toThrow(BadInput)
})

it('takes no time for what it does not check', () => {
  expect(misfitOf('a'.repeat(50), { pattern: '^(a+)+$!', format: 'email' })).toBeUndefined()
  expect(misfitOf(1, { type: 'constructor', $ref: 'other.json' })).toBeUndefined()
  expect(misfitOf(1, many(named(1)))).toBeUndefined()
})
