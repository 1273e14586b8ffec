/**
 * Scores of texts by an ONNX model in padded batches: serving beside the peers of `batching-peers.ts`.
 * @module
 */
import { pathToFileURL } from 'node:url'
import { io, Service, serve } from 'serving'
import { onnxRunner } from 'serving/onnx'
import { listening } from './listening.ts'

const model = onnxRunner('texts', pathToFileURL(process.env.BENCH_MODEL ?? ''), {
  methods: { predict: { batchable: true, batch: { pad: 0 } } },
  intraOpThreads: 1,
  maxQueue: 16_384,
  outputs: ['scores'],
})
const svc = new Service('texts', { runners: [model] })
const tokens = new io.NumpyNdarray({ dtype: 'int32' })
svc.api({ input: tokens, output: new io.NumpyNdarray() }, async function predict(x, ctx) {
  return model.predict(x, ctx)
})
const { port } = await serve(svc, { port: 0, host: '127.0.0.1' })
listening(port)
