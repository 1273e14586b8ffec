/** A model that joins rows, and what is refused: for the calls of the page. @module */
import { io, Overloaded, Runner, Service } from 'serving'

const scorer = new Runner<typeof import('./batch-model.ts')>('scorer', {
  module: new URL('./batch-model.ts', import.meta.url),
  methods: { predict: { batchable: true, maxBatchSize: 16 } },
})

const svc = new Service('lab', { doc: 'Scores, and what is refused.', runners: [scorer] })

const rows = new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 4] })
svc.api({ input: rows, output: rows, name: 'score' }, (given, ctx) => scorer.predict(given, ctx))
svc.api({ input: new io.Text(), output: new io.Text(), name: 'full' }, () => {
  throw new Overloaded('no room')
})

export default svc
