import { readFileSync } from 'node:fs'
import {
  BadInput,
  BadOutput,
  type DType,
  HeaderList,
  HttpRequest,
  type HttpResponse,
  io,
  NDArray,
} from 'serving'
import { describeDescriptor } from 'serving/testing'
import { describe, expect, it } from 'vitest'
import { Npy } from '../../examples/npy/npy.ts'
import svc from '../../examples/npy/service.ts'
import { functionOf } from '../../src/api/function-of.ts'
import { start } from '../http/harness.ts'

interface Case {
  readonly name: string
  readonly npy: string
  readonly saved: string
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly bytes: string
}
const file = readFileSync(new URL('../fixtures/npy/npy.json', import.meta.url), 'utf8')
const { cases, refused } = JSON.parse(file) as {
  cases: Case[]
  refused: { name: string; npy: string; reason: string }[]
}

const npy = new Npy()
const read = (body: Uint8Array) =>
  npy.fromHttpRequest(new HttpRequest(HeaderList.from({ 'content-type': npy.mimeType }), body))
const bytesOf = ({ data }: NDArray) => Buffer.from((data as Uint8Array).buffer).toString('base64')

describeDescriptor(
  'Npy',
  {
    create: () => new Npy(),
    samples: cases
      .filter(({ name }) => name.includes('version 1'))
      .map(({ npy }) => ({ value: read(Buffer.from(npy, 'base64')) })),
    refusals: [
      { title: 'JSON', body: '[1,2]', reason: 'syntax' },
      {
        title: 'another media type',
        headers: { 'content-type': 'application/json' },
        body: '[1]',
        status: 415,
      },
      ...refused.map(({ name, npy }) => ({ title: name, body: Buffer.from(npy, 'base64') })),
    ],
  },
  { describe, it },
)

describe('Npy', () => {
  it.each(cases)(
    'reads $name as numpy does, and writes the bytes of numpy.save',
    ({ npy: body, saved, dtype, shape, bytes }) => {
      const array = read(Buffer.from(body, 'base64'))
      expect({ dtype: array.dtype, shape: array.shape, bytes: bytesOf(array) }).toEqual({
        dtype,
        shape,
        bytes,
      })
      expect(Buffer.from(npy.toHttpResponse(array).body as Uint8Array).toString('base64')).toBe(
        saved,
      )
    },
  )

  const good = Buffer.from(cases[0].npy, 'base64')
  it.each([
    [
      'a claim of more elements than there are',
      good.toString('latin1').replace('(2, 3)', '(9, 9)'),
      'shape',
    ],
    [
      'a claim beyond all numbers',
      good.toString('latin1').replace(/\(2, 3\), \} {19}/, '(999999999999999, 999999), }'),
      'shape',
    ],
    [
      'a length beyond all numbers',
      good
        .toString('latin1')
        .replace(/\(2, 3\), \} {19}/, '(0, 99999999999999999999), }')
        .slice(0, 128),
      'shape',
    ],
    ['no elements', good.subarray(0, 128).toString('latin1'), 'shape'],
    ['an element too many', `${good.toString('latin1')}\0`, 'shape'],
    ['a boolean of two', good.toString('latin1').replace(/.$/s, '\x02'), 'dtype'],
    ['a negative length', good.toString('latin1').replace('(2, 3)', '(-2, 3'), 'syntax'],
    ['its header cut off', good.subarray(0, 60).toString('latin1'), 'syntax'],
    ['version 3.0', good.toString('latin1').replace('Y\x01', 'Y\x03'), 'syntax'],
  ])('refuses %s', (_, body, reason) => {
    const run = () => read(Buffer.from(body, 'latin1'))
    expect(run).toThrow(BadInput)
    expect(run).toThrow(expect.objectContaining({ reason, offset: expect.any(Number) }))
  })

  it.each(refused)('refuses $name for their type', ({ npy: body, reason }) => {
    expect(() => read(Buffer.from(body, 'base64'))).toThrow(expect.objectContaining({ reason }))
  })

  it('refuses to write strings and what is no array', () => {
    for (const value of [new NDArray(['a']), undefined, 5]) {
      expect(() => npy.toHttpResponse(value as NDArray)).toThrow(BadOutput)
    }
  })
})

describe('the npy service', () => {
  it('answers over HTTP, alone and within forms', async () => {
    const { port } = await start('node', (tested) => {
      for (const { input, output, name, [functionOf]: fn } of svc.apis.values())
        tested.api({ input, output, name }, fn as never)
    })
    const post = (path: string, body: Uint8Array, type: string) =>
      fetch(`http://127.0.0.1:${port}/${path}`, {
        method: 'POST',
        body: body as Uint8Array<ArrayBuffer>,
        headers: { 'content-type': type },
      })
    const array = new NDArray(Int32Array.of(1, 2, 3, 4), [2, 2])

    const alone = await post(
      'means',
      npy.toHttpResponse(array).body as Uint8Array,
      'application/x-npy',
    )
    expect(alone.headers.get('content-type')).toBe('application/x-npy')
    expect(read(new Uint8Array(await alone.arrayBuffer()))).toEqual(
      new NDArray(Float64Array.of(1.5, 3.5)),
    )

    const form = new io.Multipart({ array: npy, weights: new io.NumpyNdarray() })
    const { headers, body } = form.toHttpResponse({
      array,
      weights: new NDArray(Float64Array.of(1, 3)),
    }) as HttpResponse
    const answer = await post('weighted_means', body as Uint8Array, headers[0][1])
    const answered = new io.Multipart({ means: npy, summary: new io.JSON() })
    const type = HeaderList.from({ 'content-type': answer.headers.get('content-type') as string })
    const { means, summary } = await answered.fromHttpRequest(
      new HttpRequest(type, new Uint8Array(await answer.arrayBuffer())),
    )
    expect(summary).toEqual({ shape: [2, 2], dtype: 'int32' })
    expect(means).toEqual(new NDArray(Float64Array.of(1.75, 3.75)))
  })
})
