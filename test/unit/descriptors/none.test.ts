import pl from 'nodejs-polars'
import type { HttpResponse } from 'serving'
import { HeaderList, InvalidArgument, io, NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { Context } from '../../../src/http/context.ts'
import { textOf } from './requests.ts'

describe('null, where the specification says "or none"', () => {
  it('is as good as nothing', () => {
    expect(new io.NumpyNdarray({ dtype: null, shape: null })).toMatchObject({
      dtype: undefined,
      shape: undefined,
    })
    expect(new io.PandasDataFrame({ columns: null, dtype: null, shape: null })).toMatchObject({
      columns: undefined,
      dtype: undefined,
      shape: undefined,
    })
    expect(new io.PandasSeries({ dtype: null, shape: null })).toMatchObject({
      dtype: undefined,
      shape: undefined,
    })
    expect(new io.JSON({ schema: null, validateJson: null })).toMatchObject({
      schema: undefined,
      validateJson: undefined,
    })
    expect(new io.File({ mimeType: null }).mimeType).toBe('application/octet-stream')
    expect(new io.Image({ pilmode: null, allowedMimeTypes: null }).pilmode).toBe(null)
  })

  it('leaves the types of functions as they are', () => {
    const array = new io.NumpyNdarray({ dtype: null })
    expect(textOf(array.toHttpResponse(new NDArray(Int8Array.of(1))))).toBe('[1]')
    expect(textOf(new io.JSON({ schema: null }).toHttpResponse({ anything: 1 }))).toBe(
      '{"anything":1}',
    )
  })

  it('does not stand for a dtype that is enforced', () => {
    expect(() => new io.NumpyNdarray({ dtype: null, enforceDtype: true })).toThrow(InvalidArgument)
    expect(() => new io.PandasDataFrame({ shape: null, enforceShape: true })).toThrow(
      InvalidArgument,
    )
  })
})

it('enforceDtype and enforceShape are true or false', () => {
  expect(() => new io.NumpyNdarray({ dtype: 'int8', enforceDtype: 'yes' as never })).toThrow(
    InvalidArgument,
  )
  expect(() => new io.NumpyNdarray({ shape: [1], enforceShape: 1 as never })).toThrow(
    InvalidArgument,
  )
})

describe('a response that depends on Accept', () => {
  it.each(['application/json', 'application/x-npy', 'text/csv', undefined])(
    'says so: %s',
    (accept) => {
      const ctx = new Context({ headers: HeaderList.from(accept === undefined ? {} : { accept }) })
      const array = new io.NumpyNdarray().toHttpResponse(new NDArray(Float64Array.of(1)), ctx)
      expect(array).toMatchObject({ headers: expect.arrayContaining([['vary', 'accept']]) })
      const frame = new io.PandasDataFrame().toHttpResponse(
        pl.DataFrame({ a: [1] }),
        ctx,
      ) as HttpResponse
      expect(frame.headers).toContainEqual(['vary', 'accept'])
    },
  )
})
