import { type HandlerFunction, io, NDArray } from 'serving/io'

export const rows = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 2], enforceShape: true })

// x is an NDArray<'float32'>: x.data is a Float32Array.
export const double: HandlerFunction<typeof rows, typeof rows> = (x) => {
  const doubled = x.data.map((value) => value * 2)
  return new NDArray(doubled, x.shape)
}
