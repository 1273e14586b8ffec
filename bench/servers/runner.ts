/**
 * Models inline and behind runners: serving.ts's part for the runners' jobs. `BENCH_RUNNER` says how the model is
 * called.
 * @module
 */
import { io, NDArray, Runner, Service } from 'serving'
import { digitsSample } from '../cases/runner.ts'
import { load } from '../models/shapes.ts'

type Call = (x: NDArray<'float32'>, ctx?: object) => NDArray | Promise<NDArray>

/** Returns a service with one path of the runners' jobs, whose threads start only then. */
export function runnerService(path: string): Service {
  const how = process.env.BENCH_RUNNER ?? (path === '/runner_small' ? 'pooled' : 'batched')
  const batchable = how === 'batched'
  const shapes = new Runner<typeof import('../models/shapes.ts')>('shapes', {
    module: new URL('../models/shapes.ts', import.meta.url),
    methods: { rowSums: { batchable }, network: { batchable } },
  })
  const digits = new Runner<typeof import('../models/onnx.ts')>('digits', {
    module: new URL('../models/onnx.ts', import.meta.url),
    init: {
      path: new URL('../../examples/digits/model.onnx', import.meta.url),
      outputs: ['probabilities'],
    },
    methods: { predict: { batchable } },
  })
  const model = load()
  // Without the network: the limit of any runner.
  const answer = Float32Array.from(digitsSample().probabilities)
  const jobs: Record<
    string,
    { runner: typeof shapes | typeof digits; pooled: Call; inline: Call }
  > = {
    '/runner_small': { runner: shapes, pooled: shapes.rowSums, inline: model.rowSums },
    '/runner_2ms': { runner: shapes, pooled: shapes.network, inline: model.network },
    '/runner_digits': {
      runner: digits,
      pooled: digits.predict,
      inline: () => new NDArray(answer.slice(), [1, 10]),
    },
  }
  const { runner, pooled, inline } = jobs[path]
  const call = how === 'inline' ? inline : pooled
  const svc = new Service('bench', { runners: how === 'inline' ? [] : [runner] })
  const array = { input: new io.NumpyNdarray({ dtype: 'float32' }), output: new io.NumpyNdarray() }
  svc.api({ ...array, name: path.slice(1) }, async (x, ctx) => call(x, ctx))
  return svc
}
