import { io, Runner, Service } from 'serving'

interface Mood {
  classify(texts: readonly string[]): readonly { readonly label: string; readonly score: number }[]
}

const model = new Runner<Mood>('mood', {
  python: new URL('./mood.py', import.meta.url),
  packages: ['torch', 'transformers'],
  methods: { classify: { batchable: true, maxBatchSize: 16 } },
  init: { folder: 'mood' },
})
const svc = new Service('mood', { runners: [model] })

export const classify = svc.api(
  { input: new io.Text(), output: new io.JSON() },
  async function classify(text, ctx) {
    const [{ label, score }] = await model.classify([text], ctx)
    return { label, score }
  },
)

export default svc
