import { io, Runner, Service } from 'serving'

const resnet = new Runner('resnet', {
  url: process.env.PREDICTOR_URL ?? 'grpc://triton:8001',
  methods: { predict: { batchable: true } },
})
const svc = new Service('pictures', { runners: [resnet] })

svc.api(
  { input: new io.NumpyNdarray({ dtype: 'float32' }), output: new io.NumpyNdarray() },
  async function score(x, ctx) {
    return await resnet.predict(x, ctx)
  },
)

export default svc
