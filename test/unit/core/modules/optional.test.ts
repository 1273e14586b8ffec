import { MissingDependencyException } from 'serving'
import { describe, expect, it } from 'vitest'
import { causesOf } from '../../../../src/core/errors.ts'
import { loadOptional, missingPackage } from '../../../../src/core/modules/optional.ts'

describe('an optional package', () => {
  it('is loaded at once when it is there', () => {
    expect(
      loadOptional<{ Transformer: unknown }>('@napi-rs/image', '^1.15.0', 'Image').Transformer,
    ).toBeTypeOf('function')
  })

  it('is asked for with the install command when it is not there', () => {
    expect(() => loadOptional('no-such-package', '^1.2.0', 'Thing')).toThrow(
      MissingDependencyException,
    )
    expect(() => loadOptional('no-such-package', '^1.2.0', 'Thing')).toThrow(
      'Thing needs the package no-such-package: npm install "no-such-package@^1.2.0"',
    )
  })

  it.each(['no-such-package', '@none/package'])(
    '%s says nothing more if it is absent, and what went wrong if it is there',
    async (name) => {
      const errorOf = async (load: () => unknown) => {
        try {
          return await load()
        } catch (error) {
          return error
        }
      }
      const absent = await errorOf(() => loadOptional(name, '^1.2.0', 'Thing', '/below.js'))
      const imported = missingPackage(name, '1', 'Thing', await errorOf(() => import(name)))
      expect([absent, imported].map((error) => causesOf(error as Error))).toEqual(['', ''])
      const broken = new Error(`Cannot find module '${name}-linux-x64'`)
      const failed = missingPackage(name, '1', 'Thing', broken)
      expect(causesOf(failed)).toBe(`: ${broken.message}`)
      // Another installation would bring the same.
      expect(failed.message).toBe(
        `Thing needs the package ${name}, which is installed, but does not load here`,
      )
    },
  )
})
