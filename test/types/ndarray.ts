/**
 * Types of functions behind NumpyNdarray. Compiled, never run.
 * @module
 */
import { type Context, io, NDArray, Service } from 'serving'

const svc = new Service('types')
const float32 = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 4], enforceShape: true })
const int64 = new io.NumpyNdarray({ dtype: 'int64' })
const words = new io.NumpyNdarray({ dtype: 'str' })
const any = new io.NumpyNdarray()

// Right: the dtype of the descriptor is the dtype of the array, and decides what holds its elements.
svc.api({ input: float32, output: any, name: 'a' }, (x) => {
  const array: NDArray<'float32'> = x
  const data: Float32Array = x.data
  const shape: readonly number[] = x.shape
  return new NDArray(data, shape, array.dtype)
})
svc.api({ input: int64, output: any, name: 'b' }, (x) => {
  const data: BigInt64Array = x.data
  const first: bigint = data[0]
  return new NDArray(BigInt64Array.of(first))
})
svc.api({ input: words, output: words, name: 'c' }, (x) => {
  const data: string[] = x.data
  return new NDArray(data.map((word) => word.toUpperCase()))
})
svc.api({ input: any, output: any, name: 'd' }, (x) => (x.dtype === 'str' ? x : x.reshape([-1])))
svc.api({ input: any, output: any, name: 'e' }, async (x) => x)
svc.api({ input: float32, output: any, name: 'f' }, (x: NDArray) => x)
svc.api(
  {
    input: io.NumpyNdarray.fromSample(new NDArray(Int8Array.of(1), [1], 'int8')),
    output: any,
    name: 'g',
  },
  (x) => {
    const data: Int8Array = x.data
    return new NDArray(data)
  },
)
const typed: NDArray<'float64'> = new NDArray(Float64Array.of(1, 2))
const given = new NDArray(Float32Array.of(1, 2), [2], 'float32')
const elements: Float32Array = given.data
const reshaped: NDArray<'float64'> = typed.reshape([2, 1])
svc.api({ input: any, output: any, name: 'h' }, (_x, ctx: Context) =>
  ctx.id === '' ? reshaped : new NDArray(elements),
)

// Wrong: what the function returns.
// @ts-expect-error TS2322: a list is no NDArray
svc.api({ input: float32, output: any, name: 'i' }, (x) => [...x.data])
// @ts-expect-error TS2322: nor is a promise of one
svc.api({ input: float32, output: any, name: 'j' }, async (x) => x.data)
// @ts-expect-error TS2345: nor is nothing
svc.api({ input: float32, output: any, name: 'k' }, () => {})
// @ts-expect-error TS2345: nor is a generator of arrays
svc.api({ input: float32, output: any, name: 'l' }, function* (x) {
  yield x
})

// Wrong: what the function takes its input for.
// @ts-expect-error TS2345: float32 is not float64
svc.api({ input: float32, output: any, name: 'm' }, (x: NDArray<'float64'>) => x)
// @ts-expect-error TS2345: an array is no string
svc.api({ input: float32, output: any, name: 'n' }, (x: string) => new NDArray([x]))
// @ts-expect-error TS2345: the dtype is not known
svc.api({ input: any, output: any, name: 'o' }, (x: NDArray<'float32'>) => x)
svc.api({ input: int64, output: any, name: 'p' }, (x) => {
  // @ts-expect-error TS2322: 64-bit integers are no float elements
  const data: Float64Array = x.data
  return new NDArray(data)
})
// @ts-expect-error TS2339: there is no such member
svc.api({ input: float32, output: any, name: 'q' }, (x) => x.astype('float64'))
svc.api({ input: float32, output: any, name: 'r' }, (x) => {
  // @ts-expect-error TS2540: arrays are read only
  x.shape = []
  return x
})

// Wrong: options and constructions.
// @ts-expect-error TS2561: an option misspelled
new io.NumpyNdarray({ dtpye: 'float32' })
// @ts-expect-error TS2561: an option of the spec's spelling
new io.NumpyNdarray({ shape: [-1, 4], enforce_shape: true })
// @ts-expect-error TS2820: no such dtype
new io.NumpyNdarray({ dtype: 'float128' })
// @ts-expect-error TS2322: a shape is a list
new io.NumpyNdarray({ shape: 4 })
// @ts-expect-error TS2322: no such word for NaN
new io.NumpyNdarray({ nonFinite: 'nan' })
// @ts-expect-error TS2345: elements of another dtype
new NDArray(Float64Array.of(1), [1], 'float32')
// @ts-expect-error TS2345: elements of another dtype
const wrong: NDArray<'int64'> = new NDArray(Int32Array.of(1))
// @ts-expect-error TS2345: a list of numbers holds no elements
new NDArray([1, 2, 3])

export { wrong }
