import { io, type NDArray, Runner, Service } from 'serving'

const model = new Runner<{ predict(x: NDArray<'float32'>): NDArray<'float32'> }>('circle', {
  python: new URL('./model.py', import.meta.url),
  packages: ['torch', 'numpy'],
  methods: { predict: { batchable: true } },
  init: { weights: 'weights.pt' },
})
const svc = new Service('circle', { runners: [model] })
const points = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 2], enforceShape: true })

export const inside = svc.api(
  { input: points, output: new io.JSON() },
  async function inside(x, ctx) {
    const odds = await model.predict(x, ctx)
    return Array.from(odds.argmax().data, (place) => place === 1)
  },
)

export default svc
