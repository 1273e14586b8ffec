import { describe, expect, it } from 'vitest'
import * as errors from '../../src/core/errors.ts'

describe('the error table', () => {
  // Every class makes one code; every code has a class.
  type ErrorClass = new (message: string) => errors.ServingError
  const classes = Object.entries(errors as Record<string, unknown>).filter(
    (entry): entry is [string, ErrorClass] =>
      typeof entry[1] === 'function' &&
      entry[1].prototype instanceof errors.ServingError &&
      entry[0] !== 'SetupError',
  )
  const made = classes.map(([name, Class]) => ({ name, error: new Class('text') }))

  it('has exactly one class for each code', () => {
    expect(made.map(({ error }) => error.code).sort()).toEqual(
      Object.keys(errors.errorTable).sort(),
    )
  })

  it.each(made)('drives the status of $name', ({ name, error }) => {
    const row = errors.errorTable[error.code as errors.ErrorCode]
    expect(error).toMatchObject({ name, status: row.status, grpc: row.grpc, message: 'text' })
    expect(errors.ServingError.is(error)).toBe(true)
  })

  it('honours the status of a subclass that an application wrote', () => {
    class Teapot extends errors.ServingError {
      constructor(message: string) {
        super('function_error', message, {}, { code: 'teapot', status: 418 })
      }
    }
    expect(new Teapot('short and stout')).toMatchObject({
      code: 'teapot',
      status: 418,
      name: 'Teapot',
    })
  })

  it('keeps the status of an error when a subclass gives none of an error', () => {
    class Fine extends errors.BadInput {
      constructor() {
        super('fine', {}, { status: 200 })
      }
    }
    expect(new Fine().status).toBe(400)
  })

  it('makes 415 and 413 kinds of bad input', () => {
    expect(new errors.UnsupportedMediaType('x')).toBeInstanceOf(errors.BadInput)
    expect(new errors.PayloadTooLarge('x')).toBeInstanceOf(errors.BadInput)
    expect(new errors.PayloadTooLarge('x')).toMatchObject({
      reason: 'size',
      grpc: 'RESOURCE_EXHAUSTED',
    })
  })

  it('knows an error of another copy of the package', () => {
    expect(errors.ServingError.is({ [Symbol.for('serving.ServingError')]: true })).toBe(true)
    expect(errors.ServingError.is(new Error('x'))).toBe(false)
    expect(errors.ServingError.is(null)).toBe(false)
  })

  it('shows received values in at most 80 characters without line breaks', () => {
    expect(errors.show('x'.repeat(200))).toHaveLength(80)
    expect(errors.show('a\nb\u2028c')).toBe('"a\\nb c"')
    expect(errors.show(1n)).toBe('1n')
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(errors.show(cycle)).toBe('[object Object]')
  })
})
