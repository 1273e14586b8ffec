/**
 * Documents in OpenAPI 3.0, for generators that do not read 3.1. Keywords that 3.0 lacks and that
 * only narrow a schema are left out.
 *
 * @see OpenAPI 3.0.4; JSON Schema 2020-12.
 * @module
 */
import { listOf } from '../../core/json-schema/shape.ts'
import { isRecord, recordOf } from '../../core/options.ts'
import type { OpenApiDocument } from './document.ts'

type Schema = Readonly<Record<string, unknown>>

/** The keywords that mean the same in both. */
const kept: ReadonlySet<string> = new Set(
  (
    'title description format default enum multipleOf maximum minimum maxLength minLength pattern maxItems minItems ' +
    'uniqueItems maxProperties minProperties required readOnly writeOnly deprecated externalDocs xml discriminator'
  ).split(' '),
)

/** @returns a document of 3.1 as one of 3.0. */
export function asOpenApi30({
  jsonSchemaDialect: _,
  webhooks: __,
  ...document
}: OpenApiDocument): OpenApiDocument {
  const { components, ...rest } = document
  const { schemas, ...others } = recordOf(components)
  return {
    ...(membersOf30(rest) as OpenApiDocument),
    openapi: '3.0.4',
    components: {
      ...(membersOf30(others) as object),
      ...(isRecord(schemas) && { schemas: eachSchema(schemas) }),
    },
  }
}

/** Converts the schemas that stand in parts of a document: each is the member `schema` of its object. */
function membersOf30(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(membersOf30)
  if (!isRecord(value)) return value
  const members = Object.entries(value).map(([name, member]) => {
    const isData = name === 'example' || name === 'value' || name.startsWith('x-')
    if (isData) return [name, member]
    const convert = name === 'schema' ? schemaOf30 : membersOf30
    return [name, convert(member)]
  })
  return Object.fromEntries(members)
}

function eachSchema(schemas: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, schemaOf30(schema)]),
  )
}

function schemaOf30(schema: unknown): Schema {
  if (schema === false) return { not: {} }
  if (!isRecord(schema)) return {}
  if (typeof schema.$ref === 'string') return { $ref: schema.$ref }
  // Generators make times of these texts, and apply the pattern to the time.
  const isTime = schema.format === 'date-time' || schema.format === 'date'
  const isKept = (keyword: string) => kept.has(keyword) && !(isTime && keyword === 'pattern')
  const own = Object.entries(schema).filter(
    ([keyword]) => isKept(keyword) || keyword.startsWith('x-'),
  )
  return withTypes(schema, {
    ...Object.fromEntries(own),
    ...exampleOf(schema),
    ...boundsOf(schema),
    ...partsOf(schema),
  })
}

function exampleOf({ examples, example, const: only }: Schema): Schema {
  const first = example ?? listOf(examples)[0]
  return {
    ...(first !== undefined && { example: first }),
    ...(only !== undefined && only !== null && { enum: [only] }),
  }
}

/** In 3.0 an exclusive bound is a flag beside an inclusive one. */
function boundsOf({
  minimum,
  maximum,
  exclusiveMinimum: low,
  exclusiveMaximum: high,
}: Schema): Schema {
  const isLow = typeof low === 'number' && !(typeof minimum === 'number' && minimum > low)
  const isHigh = typeof high === 'number' && !(typeof maximum === 'number' && maximum < high)
  return {
    ...(isLow && { minimum: low, exclusiveMinimum: true }),
    ...(isHigh && { maximum: high, exclusiveMaximum: true }),
  }
}

function partsOf(schema: Schema): Schema {
  const { properties, additionalProperties: others, patternProperties, items, not } = schema
  // Properties of a pattern would else be refused.
  const isClosed = typeof others === 'boolean' && !isRecord(patternProperties)
  return {
    ...(isRecord(properties) && { properties: eachSchema(properties) }),
    ...(isClosed && { additionalProperties: others }),
    ...(isRecord(others) && { additionalProperties: schemaOf30(others) }),
    ...(isRecord(items) && schema.prefixItems === undefined && { items: schemaOf30(items) }),
    ...(not !== undefined && { not: schemaOf30(not) }),
  }
}

/** Adds the type and the compositions: null becomes `nullable`, and several types are any of several schemas. */
function withTypes(schema: Schema, made: Schema): Schema {
  const types = [schema.type ?? []].flat().map(String)
  const named = types.filter((type) => type !== 'null')
  const several = named.length > 1 && named.map((type) => typeOf30(type, schema))
  const anyOf = listOf(schema.anyOf ?? several)
  const lists = { allOf: listOf(schema.allOf), anyOf, oneOf: listOf(schema.oneOf) }
  const isNullable =
    types.includes('null') || schema.const === null || [...anyOf, ...lists.oneOf].some(isNull)
  const compositions = Object.entries(lists).map(([word, list]) => {
    return [word, list.filter((each) => !isNull(each)).map(schemaOf30)] as const
  })
  const words = listOf(schema.enum)
  return {
    ...(named.length === 1 && typeOf30(named[0], made)),
    ...made,
    ...Object.fromEntries(compositions.filter(([, list]) => list.length > 0)),
    ...(isNullable && { nullable: true }),
    ...(isNullable && words.length > 0 && !words.includes(null) && { enum: [...words, null] }),
  }
}

function isNull(schema: unknown): boolean {
  return isRecord(schema) && (schema.type === 'null' || schema.const === null)
}

/** A list must have a schema of its elements. */
function typeOf30(type: string, { items = {} }: Schema): Schema {
  if (type === 'array') return { type, items }
  return { type }
}
