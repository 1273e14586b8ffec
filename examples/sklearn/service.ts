/**
 * A model of scikit-learn, in a process of Python.
 * @module
 */
import { io, type NDArray, Runner, Service } from 'serving'

interface Model {
  predict(x: NDArray<'float64'>): NDArray<'float64'>
  classify(x: NDArray<'float64'>): NDArray<'str'>
  describe(): unknown
}

const iris = new Runner<Model>('iris', {
  python: new URL('./model.py', import.meta.url),
  packages: ['scikit-learn==1.5.2'],
  methods: { predict: { batchable: true }, classify: { batchable: true }, describe: {} },
  init: { max_iter: 200 },
})

const svc = new Service('iris_sklearn', { runners: [iris], models: [iris] })
const measurements = new io.NumpyNdarray({ dtype: 'float64', shape: [-1, 4], enforceShape: true })

svc.api(
  { input: measurements, output: new io.NumpyNdarray({ dtype: 'str' }) },
  async function classify(x, ctx) {
    return iris.classify(x, ctx)
  },
)

svc.api(
  { input: measurements, output: new io.NumpyNdarray() },
  async function probabilities(x, ctx) {
    return iris.predict(x, ctx)
  },
)

export default svc
