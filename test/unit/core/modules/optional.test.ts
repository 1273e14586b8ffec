import { MissingDependencyException } from 'serving'
import { describe, expect, it } from 'vitest'
import { loadOptional } from '../../../../src/core/modules/optional.ts'

describe('an optional package', () => {
  it('is loaded at once when it is there', () => {
    expect(loadOptional<{ Transformer: unknown }>('@napi-rs/image', '^1.15.0', 'Image').Transformer).toBeTypeOf(
      'function',
    )
  })

  it('is asked for with the install command when it is not there', () => {
    expect(() => loadOptional('no-such-package', '^1.2.0', 'Thing')).toThrow(MissingDependencyException)
    expect(() => loadOptional('no-such-package', '^1.2.0', 'Thing')).toThrow(
      'Thing needs the package no-such-package: npm install "no-such-package@^1.2.0"',
    )
  })
})
