import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { io, Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { bytes, parts, requestsTo, texts, two } from './requests.ts'
import { modelService } from './service.ts'

const { post, binary } = requestsTo(modelService())

describe('binary tensors', () => {
  const input = (size: number) => ({
    name: 'input',
    datatype: 'FP32',
    shape: [1, 2],
    parameters: { binary_data_size: size },
  })

  it('reads and writes them behind the JSON', async () => {
    const request = { inputs: [input(8)], parameters: { binary_data_output: true } }
    const answer = await binary('double', request, [bytes(Float32Array.of(1, 2))])
    expect(answer.headers.get('content-type')).toBe('application/octet-stream')
    const { json, rest } = parts(answer)
    expect(json.outputs).toEqual([
      { name: 'output', datatype: 'FP32', shape: [1, 2], parameters: { binary_data_size: 8 } },
    ])
    expect(rest.toString('hex')).toBe('0000004000008040')
  })

  it('mixes both forms, per input and per output', async () => {
    const a = { name: 'a', datatype: 'INT64', shape: [2], parameters: { binary_data_size: 16 } }
    const b = { name: 'b', datatype: 'BYTES', shape: [1], data: ['x'] }
    const outputs = [{ name: 'text', parameters: { binary_data: true } }, { name: 'sum' }]
    const { json, rest } = parts(
      await binary('form', { inputs: [b, a], outputs }, [bytes(BigInt64Array.of(2n, 3n))]),
    )
    expect(json.outputs).toMatchObject([
      { name: 'text', parameters: { binary_data_size: 5 } },
      { name: 'sum', data: [5] },
    ])
    expect(rest).toEqual(texts('x'))
  })

  it('takes FP16, BF16 and BYTES', async () => {
    const send = (datatype: string, shape: number[], data: Uint8Array) =>
      binary(
        'echo',
        {
          inputs: [
            { name: 'input', datatype, shape, parameters: { binary_data_size: data.length } },
          ],
        },
        [data],
      )
    expect((await send('FP16', [2], bytes(Uint16Array.of(0x3c00, 0xc000)))).text()).toContain(
      '[1.0,-2.0]',
    )
    expect((await send('BF16', [2], bytes(Uint16Array.of(0x3fc0, 0xff80)))).text()).toContain(
      '"FP32","shape":[2],"data":[1.5,-Infinity]',
    )
    expect((await send('BYTES', [3], texts('a', '', 'é'))).text()).toContain('["a","","é"]')
    expect((await send('FP32', [0, 2], new Uint8Array(0))).text()).toContain(
      '"shape":[0,2],"data":[]',
    )
  })

  it('reads large tensors of different widths in place', async () => {
    const inputs = ['a', 'b', 'c'].map((name, i) => ({
      name,
      datatype: ['INT8', 'FP64', 'FP32'][i],
      shape: [5001],
      parameters: { binary_data_size: 5001 * [1, 8, 4][i] },
    }))
    const arrays = [
      Int8Array.from({ length: 5001 }, (_, i) => i),
      Float64Array.from({ length: 5001 }, (_, i) => i / 3),
      Float32Array.from({ length: 5001 }, (_, i) => i),
    ]
    const three = new Service('three')
    const part = () => ({
      a: new io.NumpyNdarray(),
      b: new io.NumpyNdarray(),
      c: new io.NumpyNdarray(),
    })
    three.api(
      { input: new io.Multipart(part()), output: new io.Multipart(part()) },
      function all(x) {
        return x
      },
    )
    const json = Buffer.from(JSON.stringify({ inputs, parameters: { binary_data_output: true } }))
    for (const pad of [0, 1, 2, 3, 4, 5, 6, 7]) {
      const head = Buffer.concat([json, Buffer.alloc(pad, ' ')])
      const answer = await three.inject({
        path: '/v2/models/all/infer',
        body: Buffer.concat([head, ...arrays.map(bytes)]),
        headers: { 'Inference-Header-Content-Length': String(head.length) },
      })
      expect(parts(answer).rest.equals(Buffer.concat(arrays.map(bytes)))).toBe(true)
    }
  })

  it('refuses a body of elements alone, without JSON', async () => {
    const raw = { 'inference-header-content-length': '0' }
    const answer = await post('/v2/models/double/infer', bytes(Float32Array.of(1, 2)), raw)
    expect(answer.status).toBe(400)
    expect(answer.json<{ error: string }>().error).toMatch(/expected JSON for the request/)
  })

  it('takes the length of JSON alone, as perf_analyzer sends it', async () => {
    expect((await binary('double', { inputs: [two] }, [])).text()).toContain('[2.0,4.0]')
  })

  it.each<[string, object, Uint8Array, Record<string, string>, RegExp]>([
    [
      'a length beyond the body',
      { inputs: [two] },
      Buffer.alloc(0),
      { 'inference-header-content-length': '9999' },
      /a length from 0/,
    ],
    [
      'a length that is no number',
      { inputs: [two] },
      Buffer.alloc(0),
      { 'inference-header-content-length': 'abc' },
      /a length from 0/,
    ],
    [
      'a length within the JSON',
      { inputs: [two] },
      Buffer.alloc(0),
      { 'inference-header-content-length': '20' },
      /JSON/,
    ],
    ['too few bytes', { inputs: [input(8)] }, Buffer.alloc(4), {}, /up to 4/],
    ['bytes left over', { inputs: [input(8)] }, Buffer.alloc(9), {}, /received 1 more/],
    [
      'a size that is not that of the shape',
      { inputs: [input(4)] },
      Buffer.alloc(4),
      {},
      /expected 8 bytes/,
    ],
    ['a negative size', { inputs: [input(-1)] }, Buffer.alloc(4), {}, /a number of bytes up to/],
    [
      'data and size',
      { inputs: [{ ...input(8), data: [1, 2] }] },
      Buffer.alloc(8),
      {},
      /either data or/,
    ],
    ['bytes without a tensor', { inputs: [two] }, Buffer.alloc(8), {}, /received 8 more/],
  ])('refuses %s', async (_, request, tail, headers, message) => {
    const answer = await binary('double', request, [tail], headers)
    expect(answer.status).toBe(400)
    expect(answer.json<{ error: string }>().error).toMatch(message)
  })

  it.each<[string, number[], Uint8Array, RegExp]>([
    [
      'an element beyond the rest',
      [1],
      Buffer.from([9, 0, 0, 0, 65]),
      /expected 9 bytes for element 0 .*received 1/,
    ],
    [
      'a length that is cut off',
      [2],
      Buffer.concat([texts('abcd'), Buffer.from([1])]),
      /length of element 1 .*received 1 bytes/,
    ],
    ['more elements than the shape', [1], texts('a', 'b'), /received 5 bytes more/],
    ['fewer elements than the shape', [9], texts('a', 'b'), /9 elements/],
    ['a length of 4 GB', [1], Buffer.from([255, 255, 255, 255]), /expected 4294967295 bytes/],
    ['what is not UTF-8', [1], Buffer.from([1, 0, 0, 0, 255]), /UTF-8/],
  ])('refuses BYTES with %s', async (_, shape, data, message) => {
    const inputs = [
      { name: 'input', datatype: 'BYTES', shape, parameters: { binary_data_size: data.length } },
    ]
    const answer = await binary('words', { inputs }, [data])
    expect(answer.status).toBe(400)
    expect(answer.json<{ error: string }>().error).toMatch(message)
  })
})

describe('compression', () => {
  const json = JSON.stringify({ inputs: [two] })

  it('reads gzip and zlib, and answers as asked', async () => {
    for (const [name, pack, unpack] of [
      ['gzip', gzipSync, gunzipSync],
      ['deflate', deflateSync, inflateSync],
    ] as const) {
      const headers = {
        'content-encoding': name,
        'accept-encoding': name,
        'inference-header-content-length': String(json.length),
      }
      const answer = await post('/v2/models/double/infer', pack(json), headers)
      expect(answer.headers.get('content-encoding')).toBe(name)
      expect(unpack(answer.body).toString()).toContain('[2.0,4.0]')
    }
  })

  it('does not compress for the lists that clients send with every request', async () => {
    const answer = await post('/v2/models/double/infer', json, {
      'accept-encoding': 'gzip, deflate, br',
    })
    expect(answer.headers.get('content-encoding')).toBeUndefined()
  })

  it('names the encodings that it reads', async () => {
    const answer = await post('/v2/models/double/infer', json, { 'content-encoding': 'br' })
    expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'gzip, deflate'])
  })
})
