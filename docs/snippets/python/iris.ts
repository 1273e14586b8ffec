import { io, type NDArray, Runner, Service } from 'serving'

const iris = new Runner<{ predict(x: NDArray): NDArray }>('iris', {
  python: new URL('./model.py', import.meta.url),
  packages: ['scikit-learn==1.5.2'],
  methods: { predict: { batchable: true } },
  init: { path: 'model.joblib' },
  threads: 2,
})
const svc = new Service('iris', { runners: [iris] })

svc.api(
  { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() },
  async function probabilities(x, ctx) {
    return await iris.predict(x, ctx)
  },
)

export default svc
