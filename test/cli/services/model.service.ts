import { io, Runner, Service } from 'serving'

const model = new Runner<typeof import('./model.ts')>('model', {
  module: new URL('./model.ts', import.meta.url),
  methods: { double: { batchable: true }, words: { stream: true }, exit: {} },
})
const svc = new Service('modelled', { runners: [model] })
svc.api(
  { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() },
  async function double(x, ctx) {
    return model.double(x, ctx)
  },
)
svc.api({ input: new io.Text(), output: new io.Text() }, async function* words(text, ctx) {
  yield* model.words(text, ctx)
})
svc.api({ input: new io.Text(), output: new io.Text() }, async function exit(code, ctx) {
  return model.exit(Number(code), ctx)
})
export default svc
