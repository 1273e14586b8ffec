import { type DType, io, NDArray } from 'serving'
import { describe, it } from 'vitest'
import { z } from 'zod'
import { describeDescriptor } from './describe.ts'

const runner = { describe, it }

const dtypes: Record<DType, NDArray> = {
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
  float32: new NDArray(Float32Array.of(0.1, -1e-45, 3.4e38, 1e10), [2, 2]),
  float64: new NDArray(Float64Array.of(0.1, -5e-324, 1.7976931348623157e308), [3, 1]),
  str: new NDArray(['', 'é', '"\\', '\u2028'], [2, 2]),
}

for (const [dtype, array] of Object.entries(dtypes) as [DType, NDArray][]) {
  describeDescriptor(
    `NumpyNdarray of ${dtype}`,
    {
      create: () => new io.NumpyNdarray({ dtype }),
      samples: [
        { value: array },
        { value: array.reshape([-1]) },
        { value: new NDArray(array.data.slice(0, 1), [], dtype) },
      ],
      fromSample: (value) => io.NumpyNdarray.fromSample(value),
      refusals: [
        { title: 'a ragged list', body: '[[1,2],[1]]', reason: 'ragged' },
        { title: 'half a list', body: '[1', reason: 'syntax' },
        { title: 'a page', headers: { 'content-type': 'text/html' }, body: '[1]', status: 415 },
      ],
    },
    runner,
  )
}

describeDescriptor(
  'NumpyNdarray with everything enforced',
  {
    create: () =>
      new io.NumpyNdarray({
        dtype: 'uint8',
        enforceDtype: true,
        shape: [-1, 2],
        enforceShape: true,
      }),
    samples: [
      { value: new NDArray(Uint8Array.of(1, 2, 3, 4), [2, 2]) },
      { value: new NDArray(Uint8Array.of(5, 4), [1, 2]), request: { body: '[{"0":5,"1":4}]' } },
    ],
    refusals: [
      { title: 'a column too many', body: '[[1,2,3]]', reason: 'shape' },
      { title: 'a number beyond the dtype', body: '[[1,256]]', reason: 'dtype' },
      { title: 'a word', body: '[["a","b"]]', reason: 'dtype' },
    ],
  },
  runner,
)

describeDescriptor<unknown, unknown>(
  'JSON',
  {
    create: () => new io.JSON(),
    samples: [
      { value: { a: [1, null, 'é', true], b: { c: -0.5 } } },
      { value: 'text' },
      { value: null },
      { value: [] },
      { value: undefined, received: null },
      { value: { b: 2n }, received: { b: 2 } },
      { value: new NDArray(Float32Array.of(0.1, 2), [1, 2]), received: [[0.1, 2]] },
    ],
    refusals: [
      {
        title: 'single quotes',
        headers: { 'content-type': 'application/json' },
        body: "{'a':1}",
        reason: 'syntax',
      },
      {
        title: 'NaN',
        headers: { 'content-type': 'application/json' },
        body: '{"a":NaN}',
        reason: 'syntax',
      },
    ],
  },
  runner,
)

const schema = z.strictObject({
  name: z.string(),
  n: z.number(),
  opt: z.number().nullable().default(null),
})

describeDescriptor(
  'JSON with a schema',
  {
    create: () => new io.JSON({ schema }),
    samples: [{ value: { name: 'a', n: 1 }, received: { name: 'a', n: 1, opt: null } }],
    fromSample: (value) => io.JSON.fromSample(value, { schema }),
    refusals: [
      { title: 'a missing field', body: '{"name":"a"}', reason: 'schema' },
      { title: 'a field too many', body: '{"name":"a","n":1,"x":2}', reason: 'schema' },
      { title: 'null', body: 'null', reason: 'schema' },
    ],
  },
  runner,
)

describeDescriptor<string, string>(
  'Text',
  {
    create: () => new io.Text(),
    samples: [
      { value: 'hello' },
      { value: '' },
      { value: '\ufeffmarked' },
      { value: 'é😀\0\r\n' },
      {
        value: 'é',
        request: {
          headers: { 'content-type': 'text/plain; charset=ISO-8859-1' },
          body: Uint8Array.of(0xe9),
        },
      },
    ],
    fromSample: (value) => io.Text.fromSample(value),
    refusals: [
      { title: 'bytes that are not UTF-8', body: Uint8Array.of(0x61, 0xff), reason: 'encoding' },
      { title: 'a picture', headers: { 'content-type': 'image/png' }, body: 'x', status: 415 },
      {
        title: 'an unknown charset',
        headers: { 'content-type': 'text/plain; charset=klingon' },
        body: 'x',
        status: 415,
      },
    ],
  },
  runner,
)
