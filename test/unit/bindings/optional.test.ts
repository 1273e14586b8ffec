import { MissingDependencyException } from 'serving'
import { describe, expect, it } from 'vitest'
import { loadOptional } from '../../../src/bindings/optional.ts'
import { runWithout } from './without-package.ts'

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

  it('is asked for when Image is made, not when serving is imported', () => {
    const output = runWithout(
      '@napi-rs/image',
      `import { io, MissingDependencyException, NDArray, RasterImage } from './src/index.ts'
      new io.JSON()
      RasterImage.fromNDArray(new NDArray(new Uint8Array(1), [1, 1]))
      for (const make of [() => new io.Image(), () => io.Image.fromSample(Uint8Array.of(1))]) {
        try { make(); console.log('made') } catch (error) { console.log(error instanceof MissingDependencyException, error.message) }
      }`,
    )
    expect(output).toBe('true Image needs the package @napi-rs/image: npm install "@napi-rs/image@^1.15.0"\n'.repeat(2))
  })

  it('is asked for when a frame or a series is wanted, and the other descriptors are made', () => {
    const output = runWithout(
      'nodejs-polars',
      `import { io, NDArray } from './src/index.ts'
      const json = new io.JSON()
      console.log(json.toHttpResponse({ at: new Date(0), x: new NDArray(Float64Array.of(1)) }).body)
      for (const make of [() => new io.PandasDataFrame(), () => new io.PandasSeries(), () => io.PandasSeries.fromSample([1])]) {
        try { make(); console.log('made') } catch (error) { console.log(error.name, error.message) }
      }`,
    )
    const missing = (name: string) =>
      `MissingDependencyException ${name} needs the package nodejs-polars: npm install "nodejs-polars@0.24.1"`
    expect(output.trim().split('\n')).toEqual([
      '{"at":"1970-01-01T00:00:00.000Z","x":[1.0]}',
      missing('PandasDataFrame'),
      missing('PandasSeries'),
      missing('PandasSeries'),
    ])
  })
})
