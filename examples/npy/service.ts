/**
 * Arrays in numpy's own format, alone and as parts of a form.
 * @module
 */
import { BadInput, io, NDArray, Service } from 'serving'
import { Npy } from './npy.ts'

const svc = new Service('npy', { doc: 'Statistics of arrays that numpy.save wrote.' })

svc.api(
  {
    input: new Npy(),
    output: new Npy(),
    doc: 'An array becomes the array of its means along the last axis.',
  },
  function means(array) {
    return meansOf(array)
  },
)

svc.api(
  {
    input: new io.Multipart({
      array: new Npy(),
      weights: new io.NumpyNdarray({ dtype: 'float64', shape: [-1] }),
    }),
    output: new io.Multipart({ means: new Npy(), summary: new io.JSON() }),
    doc: 'As means, with a weight for each element of the last axis; the answer is a form, too.',
  },
  function weighted_means({ array, weights }) {
    return {
      means: meansOf(array, weights.data),
      summary: { shape: array.shape, dtype: array.dtype },
    }
  },
)

function meansOf(array: NDArray, weights?: Float64Array): NDArray {
  const { data, shape } = array
  const width = shape.at(-1) ?? 1
  if (weights !== undefined && weights.length !== width) {
    throw new BadInput(`expected ${width} weights, received ${weights.length}`, {
      reason: 'shape',
      path: 'weights',
    })
  }
  const total = weights?.reduce((sum, weight) => sum + weight, 0) ?? width
  const rows = width === 0 ? 0 : data.length / width
  const result = Float64Array.from({ length: rows }, (_, row) => {
    let sum = 0
    for (let i = 0; i < width; i++) sum += Number(data[row * width + i]) * (weights?.[i] ?? 1)
    return sum / total
  })
  return new NDArray(result, width === 0 ? [0] : shape.slice(0, -1))
}

export default svc
