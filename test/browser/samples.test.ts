/** Samples of schemas, and fields of those that no sample fits: each says what was expected. */
import { io, Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { faultIn } from '../../src/core/json-schema/fault.ts'
import { startOf } from '../../src/core/json-schema/sample.ts'
import { chromium, servePage } from './browser.ts'

const narrow = z.int().min(2).max(1)
const impossible = z.object({
  count: narrow,
  tags: z.array(z.string()).min(2).max(1),
  rows: z.array(z.object({ share: z.number().min(1).max(4).multipleOf(5) })).min(1),
  size: z.union([z.int().min(5).max(4), z.literal('all')]),
  word: z.string().regex(/^(?=.*[0-9])[a-z0-9]{8,}$/),
  note: z.string().min(3).optional(),
})
const svc = new Service('samples')
const output = new io.JSON()
svc.api({ input: new io.JSON({ schema: impossible }), output, name: 'members' }, () => null)
svc.api({ input: new io.JSON({ schema: narrow }), output, name: 'whole' }, () => null)

describe('where no sample of a schema is valid', () => {
  const impossible = { type: 'integer', minimum: 2, maximum: 1 }
  const tree = { $ref: '#/tree' }
  it.each([
    [impossible, '', 'a number that is whole, at least 2, at most 1'],
    [
      { type: 'number', minimum: 1, maximum: 4, multipleOf: 5 },
      '',
      'at least 1, at most 4, a multiple of 5',
    ],
    [{ type: 'string', format: 'email', maxLength: 3 }, '', 'a text of the format email'],
    [{ type: 'array', items: { type: 'integer' }, minItems: 80 }, '', 'at least 80 items'],
    [{ type: 'array', items: { enum: [1] }, minItems: 2, uniqueItems: true }, '', 'that differ'],
    [{ type: 'array', items: { enum: [1] }, minItems: 2, maxItems: 1 }, '', 'at most 1 items'],
    [{ type: 'array', items: false, minItems: 1 }, '', 'at most 0 items'],
    [{ type: 'array', items: impossible, minItems: 1 }, '[0]', 'whole'],
    [{ properties: { a: impossible }, required: ['a'] }, '.a', 'whole'],
    [{ properties: { a: false }, required: ['a'] }, '.a', 'another value'],
    [{ type: 'object', required: ['a'], additionalProperties: false }, '.a', 'another value'],
    [{ type: 'object', minProperties: 2, maxProperties: 1 }, '', 'at most 1 members'],
    [
      { type: 'object', minProperties: 1, propertyNames: { maxLength: 2 } },
      '',
      'for each name at most 2 characters',
    ],
    [{ anyOf: [impossible, { ...impossible, type: 'number' }] }, '', 'whole'],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, '', 'one kind alone'],
    [{ const: 'a', type: 'integer' }, '', 'type integer'],
    [{ enum: [] }, '', 'the schema takes none'],
    [{ default: 'd', enum: ['a', 'b'] }, '', 'one of "a", "b"'],
    [{ type: 'boolean', not: { const: false } }, '', 'another value'],
  ])('%j says so', (schema, path, wanted) => {
    const fault = faultIn(startOf(schema, {}), schema, {})
    expect(fault?.path).toBe(path)
    expect(fault?.wanted).toContain(wanted)
  })

  it.each([
    { anyOf: [impossible, { type: 'string', minLength: 6 }] },
    { type: ['integer', 'null'], minimum: 1 },
    { type: 'object', required: ['a'] },
    { type: 'object', minProperties: 2, additionalProperties: { type: 'number' } },
    { type: 'array', prefixItems: [{ type: 'string' }], items: false, minItems: 1 },
    tree,
  ])('%j has one', (schema) => {
    const branches = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, tree]))
    const branch = { properties: branches, required: Object.keys(branches) }
    const document = { tree: { anyOf: [branch, { type: 'number' }] } }
    expect(faultIn(startOf(schema, document), schema, document)).toBeUndefined()
  })
})

describe.skipIf(chromium === undefined)('samples in Chromium (needs chromium)', () => {
  const on = servePage(svc, '/v1')
  const hints = async () =>
    (await on.texts('form .dim')).filter((text) => text?.startsWith('There is no sample'))

  it('are missing with a reason, in each field once', async () => {
    await on.open('members')
    expect(await hints()).toEqual([
      'There is no sample: expected a number that is whole, at least 2, at most 1.',
      'There is no sample: expected at most 1 items.',
      'There is no sample: expected a number that is at least 1, at most 4, a multiple of 5.',
      'There is no sample: expected a text like ^(?=.*[0-9])[a-z0-9]{8,}$.',
    ])
    // A kind of a union that has a sample comes first.
    expect(await on.page.$eval('select[aria-label="size: kind"]', (each) => each.value)).toBe('1')
    expect((await on.send()).status).toBe('400')
    expect(on.faults).toEqual([])
  })

  it('are missing with a reason for a whole input, too', async () => {
    await on.open('whole')
    expect(await hints()).toEqual([
      'There is no sample: expected a number that is whole, at least 2, at most 1.',
    ])
    expect(on.faults).toEqual([])
  })
})
