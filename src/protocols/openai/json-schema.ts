/**
 * Checks values by the JSON Schemas of structured outputs. Other keywords hold: a pattern of a client could take hours.
 * @module
 */

import { isDeepStrictEqual } from 'node:util'
import { BadInput } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'

type Schema = Readonly<Record<string, unknown>>

// A schema of a client could refer to itself without an end.
const maxSteps = 250_000
const maxDepth = 500

const types = new Map<unknown, (value: unknown) => boolean>([
  ['null', (value) => value === null],
  ['boolean', (value) => typeof value === 'boolean'],
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['array', (value) => Array.isArray(value)],
  ['object', isRecord],
])

/** Bounds of numbers, of the characters of texts and of the items of lists. */
const bounds: Readonly<Record<string, (value: unknown, bound: number) => boolean>> = {
  minimum: (value, bound) => typeof value !== 'number' || value >= bound,
  maximum: (value, bound) => typeof value !== 'number' || value <= bound,
  exclusiveMinimum: (value, bound) => typeof value !== 'number' || value > bound,
  exclusiveMaximum: (value, bound) => typeof value !== 'number' || value < bound,
  multipleOf: (value, bound) => typeof value !== 'number' || isWhole(value / bound),
  minLength: (value, bound) => typeof value !== 'string' || [...value].length >= bound,
  maxLength: (value, bound) => typeof value !== 'string' || [...value].length <= bound,
  minItems: (value, bound) => !Array.isArray(value) || value.length >= bound,
  maxItems: (value, bound) => !Array.isArray(value) || value.length <= bound,
}

/**
 * @returns where and how a value does not fit; undefined if it does.
 * @throws BadInput for a schema that takes too long.
 */
export function misfitOf(value: unknown, schema: unknown): string | undefined {
  return new SchemaCheck(schema).misfit(value, schema, '', 0)
}

class SchemaCheck {
  readonly #root: unknown
  #steps = 0

  constructor(root: unknown) {
    this.#root = root
  }

  misfit(value: unknown, schema: unknown, path: string, depth: number): string | undefined {
    this.#step(1)
    if (depth > maxDepth) throw tooLong()
    const here = path === '' ? 'the value' : path
    if (schema === false) return `nothing for ${here}`
    if (!isRecord(schema)) return undefined
    const { type, $ref: ref } = schema
    if (typeof ref === 'string') {
      const misfit = this.misfit(value, this.#resolve(ref), path, depth + 1)
      if (misfit !== undefined) return misfit
    }
    const names = listOf(typeof type === 'string' ? [type] : type)
    if (names.length > 0 && !names.some((name) => types.get(name)?.(value) ?? true))
      return `${names.join(' or ')} for ${here}`
    if ('const' in schema && !isDeepStrictEqual(value, schema.const))
      return `${JSON.stringify(schema.const)} for ${here}`
    const choices = listOf(schema.enum)
    this.#step(choices.length)
    if (choices.length > 0 && !choices.some((choice) => isDeepStrictEqual(value, choice)))
      return `one of ${JSON.stringify(choices).slice(0, 200)} for ${here}`
    for (const [name, fits] of Object.entries(bounds)) {
      const bound = schema[name]
      if (typeof bound === 'number' && !fits(value, bound)) return `${name} ${bound} for ${here}`
    }
    return (
      this.#combined(value, schema, path, depth) ??
      (Array.isArray(value) ? this.#items(value, schema, path, depth) : undefined) ??
      (isRecord(value) ? this.#members(value, schema, path, depth) : undefined)
    )
  }

  #combined(value: unknown, schema: Schema, path: string, depth: number): string | undefined {
    for (const each of listOf(schema.allOf)) {
      const misfit = this.misfit(value, each, path, depth + 1)
      if (misfit !== undefined) return misfit
    }
    for (const name of ['anyOf', 'oneOf']) {
      const misfits = listOf(schema[name]).map((each) => this.misfit(value, each, path, depth + 1))
      const fitting = misfits.filter((misfit) => misfit === undefined).length
      if (misfits.length > 0 && fitting === 0) return misfits.join(', or ').slice(0, 500)
      if (name === 'oneOf' && fitting > 1) return `a value of one kind for ${path}`
    }
    return undefined
  }

  #items(list: readonly unknown[], schema: Schema, path: string, depth: number) {
    const first = listOf(schema.prefixItems)
    for (const [i, item] of list.entries()) {
      const misfit = this.misfit(item, first[i] ?? schema.items, `${path}[${i}]`, depth + 1)
      if (misfit !== undefined) return misfit
    }
    return undefined
  }

  #members(value: Schema, schema: Schema, path: string, depth: number): string | undefined {
    const required = listOf(schema.required)
    this.#step(required.length)
    const missing = required.find((name) => !Object.hasOwn(value, String(name)))
    if (missing !== undefined)
      return `a member ${JSON.stringify(missing)} of ${path || 'the value'}`
    const properties = isRecord(schema.properties) ? schema.properties : {}
    for (const [name, member] of Object.entries(value)) {
      const isKnown = Object.hasOwn(properties, name)
      const rule = isKnown ? properties[name] : schema.additionalProperties
      const place = path === '' ? name : `${path}.${name}`
      const misfit = this.misfit(member, rule, place, depth + 1)
      if (misfit !== undefined) return misfit
    }
    return undefined
  }

  /** Follows a pointer such as `#/$defs/item` (RFC 6901). What lies elsewhere holds. */
  #resolve(ref: string): unknown {
    let at = ref === '#' || ref.startsWith('#/') ? this.#root : undefined
    for (const part of ref.split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
      at = isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined
    }
    return at
  }

  #step(count: number): void {
    this.#steps += count
    if (this.#steps > maxSteps) throw tooLong()
  }
}

/** As 0.3 of 0.1. */
function isWhole(quotient: number): boolean {
  return Math.abs(quotient - Math.round(quotient)) < 1e-9
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function tooLong(): BadInput {
  const message = `expected a schema that takes at most ${maxSteps} steps for response_format, received one of more`
  return new BadInput(message, { reason: 'schema', path: 'response_format' })
}
