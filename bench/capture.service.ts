/** Served by `capture.ts`: echoes or scores arrays and frames, with a capture at CAPTURE_RATE or without. */
import { io, NDArray, Service } from 'serving'

const { CAPTURE_RATE, CAPTURE_TO } = process.env
const capture =
  CAPTURE_RATE === undefined
    ? undefined
    : { rate: Number(CAPTURE_RATE), to: `file:${CAPTURE_TO}`, maxMbPerSecond: 1000 }
const svc = new Service('captured', capture && { capture })

const array = new io.NumpyNdarray()
svc.api({ input: array, output: array }, function ndarray(x) {
  return x
})
const float32 = new io.NumpyNdarray({ dtype: 'float32' })
svc.api({ input: float32, output: float32 }, function float32s({ data, shape }) {
  return new NDArray(data.map(Math.sqrt), shape)
})
svc.api({ input: array, output: array }, function float64s({ data, shape }) {
  return new NDArray(Float64Array.from(data as Float64Array, Math.sqrt), shape)
})
svc.api({ input: new io.PandasDataFrame(), output: array }, function frame({ height }) {
  return new NDArray(Float64Array.from({ length: height }, Math.random))
})
const frameOfOrders = new io.PandasDataFrame({ dtype: { at: 'datetime64[ms]' } })
svc.api({ input: frameOfOrders, output: float32 }, function shop({ height }) {
  return new NDArray(Float32Array.from({ length: height }, Math.random))
})

export default svc
