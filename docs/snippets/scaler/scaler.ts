import { io, NDArray, Service } from 'serving'

const svc = new Service('scaler')
const rows = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 4], enforceShape: true })

// x is an NDArray<'float32'>: x.data is a Float32Array.
export const scale = svc.api({ input: rows, output: new io.NumpyNdarray() }, function scale(x) {
  const doubled = x.data.map((value) => value * 2)
  return new NDArray(doubled, x.shape)
})

export default svc
