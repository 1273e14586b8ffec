import { ByteBuffer } from 'flatbuffers'
import { type DType, HeaderList, HttpRequest, type HttpResponse, io, NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { dtypes } from '../../../src/core/dtype.ts'
import { Context } from '../../../src/http/context.ts'
import {
  encodeNdarrayFlatbuffer,
  parseNdarrayFlatbuffer,
} from '../../../src/values/array/ndarray-flatbuffer.ts'
import { encodeNpy, parseNpy } from '../../../src/values/array/npy.ts'

const arrays: Record<DType, NDArray> = {
  bool: new NDArray(Uint8Array.of(1, 0), [2], 'bool'),
  int8: new NDArray(Int8Array.of(-128, 127)),
  int16: new NDArray(Int16Array.of(-32768, 32767), [2, 1]),
  int32: new NDArray(Int32Array.of(-(2 ** 31), 2 ** 31 - 1), [1, 2]),
  int64: new NDArray(BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n)),
  uint8: new NDArray(Uint8Array.of(0, 255)),
  uint16: new NDArray(Uint16Array.of(0, 65535)),
  uint32: new NDArray(Uint32Array.of(0, 2 ** 32 - 1)),
  uint64: new NDArray(BigUint64Array.of(0n, 2n ** 64n - 1n)),
  float16: new NDArray(Uint16Array.of(0x3c00, 0x0001, 0x8000), [3], 'float16'),
  float32: new NDArray(Float32Array.of(0.1, Number.NaN)),
  float64: new NDArray(Float64Array.of(5), []),
  str: new NDArray(['', 'é😀', 'abc'], [3, 1]),
}

const forms = {
  'application/x-flatbuffers': [encodeNdarrayFlatbuffer, parseNdarrayFlatbuffer],
  'application/x-npy': [encodeNpy, parseNpy],
} as const

function post(
  type: string,
  body: Uint8Array,
  descriptor: io.NumpyNdarray = new io.NumpyNdarray(),
): NDArray {
  return descriptor.fromHttpRequest(
    new HttpRequest(HeaderList.from({ 'content-type': type }), body),
  ) as NDArray
}

function answer(accept: string, value: NDArray): HttpResponse {
  const ctx = new Context({ headers: HeaderList.from({ accept }) })
  return new io.NumpyNdarray().toHttpResponse(value, ctx) as HttpResponse
}

describe.each(Object.entries(forms))('arrays as %s', (type, [encode, parse]) => {
  it.each(Object.entries(arrays))('keep dtype %s, shape and elements', (_, array) => {
    const { dtype, shape, data } = parse(encode(array), 'x')
    expect(new NDArray(data, shape, dtype)).toEqual(array)
  })

  it('refuse a shape of more empty lists than anybody would print', () => {
    const array = new NDArray(new Float32Array(0), [1_000_000_000, 0])
    expect(() => post(type, encode(array))).toThrow(expect.objectContaining({ reason: 'shape' }))
    expect(post(type, encode(new NDArray(new Float32Array(0), [1000, 0]))).shape).toEqual([1000, 0])
  })

  it('refuse more texts than may become strings at once', () => {
    const many = new NDArray<'str'>(Array.from({ length: 250_001 }, () => ''))
    const long = new NDArray(['x'.repeat(4 * 1024 * 1024 + 1)])
    for (const array of [many, long]) {
      expect(() => post(type, encode(array))).toThrow(
        expect.objectContaining({ code: 'payload_too_large' }),
      )
    }
    const allowed = new NDArray<'str'>(many.data.slice(1))
    expect(post(type, encode(allowed)).data).toEqual(allowed.data)
  })

  it('keep halves of a surrogate pair apart', () => {
    const halves = new NDArray(['\ud83d', '\ude00'])
    if (type === 'application/x-flatbuffers')
      expect(parse(encode(halves), 'x').data).toEqual(['\ufffd', '\ufffd'])
  })

  it('are read by Content-Type, under the options of the descriptor', () => {
    const body = encode(arrays.int32)
    expect(post(type, body)).toEqual(arrays.int32)
    const cast = post(
      type,
      body,
      new io.NumpyNdarray({ dtype: 'float64', shape: [2] }) as unknown as io.NumpyNdarray,
    )
    expect(cast).toEqual(new NDArray(Float64Array.of(-(2 ** 31), 2 ** 31 - 1)))
    const enforced = new io.NumpyNdarray({ shape: [3], enforceShape: true })
    expect(() => post(type, body, enforced)).toThrow(expect.objectContaining({ reason: 'shape' }))
  })

  it('are written where Accept asks for them, and JSON otherwise', () => {
    const { headers, body } = answer(`${type}, application/json;q=0.5`, arrays.uint8)
    expect(headers).toEqual([
      ['content-type', type],
      ['vary', 'accept'],
    ])
    expect(parse(body as Uint8Array, 'x').data).toEqual(arrays.uint8.data)
    for (const accept of ['*/*', 'application/json', 'text/html', `${type};q=0`]) {
      expect(answer(accept, arrays.uint8).headers).toEqual([
        ['content-type', 'application/json'],
        ['vary', 'accept'],
      ])
    }
  })

  it('are views of a body that lies aligned, and copies of one that does not', () => {
    const bytes = new Uint8Array(encode(arrays.float64))
    expect((post(type, bytes).data as Float64Array).buffer).toBe(bytes.buffer)
    const odd = new Uint8Array(bytes.length + 1).subarray(1)
    odd.set(bytes)
    const copy = post(type, odd)
    expect(copy).toEqual(arrays.float64)
    expect((copy.data as Float64Array).buffer).not.toBe(odd.buffer)
  })

  it('are refused when they are cut off', () => {
    const bytes = encode(arrays.int32)
    for (let end = 0; end < bytes.length; end++) {
      expect(() => post(type, bytes.subarray(0, end))).toThrow(
        expect.objectContaining({ status: 400 }),
      )
    }
  })
})

describe('the FlatBuffers table', () => {
  it("is read by the flatbuffers package's own runtime, with its data at a multiple of 64 bytes", () => {
    const buffer = new ByteBuffer(new Uint8Array(encodeNdarrayFlatbuffer(arrays.int32)))
    expect(buffer.getBufferIdentifier()).toBe('SVND')
    const table = buffer.readInt32(0)
    const field = (id: number) => table + buffer.__offset(table, 4 + id * 2)
    expect(buffer.readUint8(field(0))).toBe(3)
    expect(buffer.__vector_len(field(1))).toBe(2)
    const shape = buffer.__vector(field(1))
    expect([buffer.readInt64(shape), buffer.readInt64(shape + 8)]).toEqual([1n, 2n])
    const data = buffer.__vector(field(2))
    expect([data % 64, buffer.__vector_len(field(2)), buffer.readInt32(data)]).toEqual([
      0,
      8,
      -(2 ** 31),
    ])
  })
})

describe('the .npy reader', () => {
  it('counts no fractions of elements in a file that is cut', () => {
    for (const [dtype, array] of Object.entries(arrays)) {
      if (dtype === 'bool' || /^u?int8$/.test(dtype)) continue
      const bytes = encodeNpy(array)
      const cut = () => parseNpy(bytes.subarray(0, bytes.length - 1), 'NumpyNdarray')
      expect(cut, dtype).toThrow(
        /^expected (elements|texts) of \d+ bytes for NumpyNdarray, received \d+ bytes$/,
      )
    }
  })

  it('turns Fortran order and big-endian numbers into ours', () => {
    const bytes = Buffer.from(encodeNpy(new NDArray(Int16Array.of(1, 2, 3, 4, 5, 6), [2, 3])))
    const header = bytes.toString('latin1', 10, 128)
    bytes.write(
      header.replace("'<i2'", "'>i2'").replace('False', 'True ').replace('True ,', 'True, '),
      10,
      'latin1',
    )
    bytes.subarray(128).swap16()
    expect(parseNpy(bytes, 'x')).toEqual({
      dtype: 'int16',
      shape: [2, 3],
      data: Int16Array.of(1, 3, 5, 2, 4, 6),
    })
  })
})

describe('a descriptor of an application', () => {
  class Upper extends io.IODescriptor<string> {
    readonly mimeType = 'text/plain'
    fromHttpRequest(request: HttpRequest): string {
      return Buffer.from(request.body).toString().toUpperCase()
    }
    toHttpResponse(value: string): HttpResponse {
      return { headers: [['content-type', this.mimeType]], body: [value, '!'] }
    }
  }

  it('works over RPC by the bytes of its body', async () => {
    const upper = new Upper()
    expect(await upper.fromProto(Buffer.from('hi'))).toBe('HI')
    expect(Buffer.from((await upper.toProto('HI')) as Uint8Array).toString()).toBe('HI!')
    expect(() => upper.fromProto('text')).toThrow(expect.objectContaining({ code: 'bad_input' }))
    const form = new io.Multipart({ part: upper })
    const message = await form.toProto({ part: 'x' })
    expect(await form.fromProto(message)).toMatchObject({ part: 'X!' })
  })
})

describe('enforceDtype', () => {
  const given = {
    bool: Uint8Array.of(0, 1),
    int64: BigInt64Array.of(0n, 1n),
    float64: Float64Array.of(0, 1),
  }
  const cases = Object.entries(given).flatMap(([from, data]) =>
    dtypes
      .filter((to) => !(from === 'int64' && to.startsWith('uint')))
      .map((to) => [from as DType, to, data] as const),
  )

  // Not from int64 to unsigned ones: JSON has no signed integers without a sign.
  it.each(cases)(
    'lets %s come as %s by JSON, as a file and as a message, or by none of them',
    async (from, to, data) => {
      const array = new NDArray(data as NDArray['data'], [2], from)
      const json = await new io.NumpyNdarray().toHttpResponse(array)
      const descriptor = new io.NumpyNdarray({
        dtype: to,
        enforceDtype: true,
      }) as unknown as io.NumpyNdarray
      const taken = (read: () => unknown) => {
        try {
          return read()
        } catch (error) {
          expect(error).toMatchObject({ reason: 'dtype' })
          return 'refused'
        }
      }
      const file = taken(() => post('application/x-npy', encodeNpy(array), descriptor))
      expect(
        taken(() => post('application/json', Buffer.from(json.body as string), descriptor)),
      ).toEqual(file)
      const message = new io.NumpyNdarray().toProto(array) as Parameters<
        typeof descriptor.fromProto
      >[0]
      expect(taken(() => descriptor.fromProto(message))).toEqual(file)
    },
  )
})
