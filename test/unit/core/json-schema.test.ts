import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { exampleFor } from '../../../src/core/json-schema/sample.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const impossible = { type: 'integer', minimum: 2, maximum: 1 }
const word = { type: 'string' }
const node = {
  type: 'object',
  properties: { next: { $ref: '#' }, name: word },
  required: ['name', 'next'],
}

/** The end of what refers to itself is a kind that does not. */
const chain = { name: 'text', next: { name: 'text', next: { name: 'text', next: 'text' } } }

describe('an example of a schema', () => {
  it.each<[Record<string, unknown>, unknown]>([
    [{ type: 'array', items: word, maxItems: 0 }, []],
    [{ type: 'array', prefixItems: [word, word], maxItems: 2 }, ['text', 'text']],
    [{ type: 'array', items: false }, []],
    [{ type: 'array', items: impossible }, []],
    [{ type: 'array', items: word }, ['text']],
    [{ type: 'array', items: word, minItems: 2 }, ['text', 'text']],
    [{ type: 'object', required: ['a'], additionalProperties: { type: 'number' } }, { a: 1 }],
    [{ type: 'object', additionalProperties: false, properties: { a: word } }, { a: 'text' }],
    [{ type: 'object', required: ['a'], patternProperties: { '^a': word } }, undefined],
    [{ type: 'object', required: ['b'], properties: { a: impossible, b: word } }, { b: 'text' }],
    [{ type: 'object', minProperties: 1, additionalProperties: word }, { key1: 'text' }],
    [{ anyOf: [impossible, word] }, 'text'],
    [{ anyOf: [{ type: 'integer' }, word], minimum: 7 }, 7],
    [{ anyOf: [{ type: 'null' }, word] }, 'text'],
    [{ oneOf: [{ type: 'integer' }, { type: 'number', exclusiveMaximum: 1 }] }, 1],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, undefined],
    [{ allOf: [{ minimum: 5, type: 'integer' }, { minimum: 3 }] }, 5],
    [{ allOf: [{ type: 'array', items: word, minItems: 2 }, { minItems: 1 }] }, ['text', 'text']],
    [
      {
        type: 'object',
        properties: { a: word },
        required: ['a'],
        anyOf: [{ properties: { b: { const: 1 } }, required: ['b'] }, { required: ['c'] }],
      },
      { a: 'text', b: 1 },
    ],
    [{ type: 'integer', enum: ['a', 2] }, 2],
    [{ enum: ['a'], not: { const: 'a' } }, undefined],
    [{ type: 'string', default: 1 }, undefined],
    [{ type: 'string', examples: ['given'] }, 'given'],
    [{ type: ['string', 'null'], minLength: 2 }, 'text'],
    [{ type: 'array', items: word, minItems: 2, uniqueItems: true }, undefined],
    [{ type: 'array', items: word, minItems: 100 }, undefined],
    [{ ...node, properties: { next: { anyOf: [{ $ref: '#' }, word] }, name: word } }, chain],
    [node, undefined],
    [{ type: 'boolean' }, true],
    [{}, null],
  ])('%j fits, or is left out', (schema, wanted) => {
    const example = exampleFor(schema)
    if (example !== undefined)
      expect([ajv.validate(schema, example), ajv.errors]).toEqual([true, null])
    expect(example).toEqual(wanted)
  })
})
