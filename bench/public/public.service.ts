/** What serving answers in the benchmarks of others, on their paths. */
import { fileURLToPath } from 'node:url'
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'
import { io, NDArray, Runner, Service } from 'serving'
import { onnxRunner } from 'serving/onnx'
import { z } from 'zod'
import { grpcService } from '../../examples/greeter/grpc-service.ts'

const file = (path: string) => new URL(path, import.meta.url)

/** The model by onnxruntime, or by scikit-learn in the Python that PUBLIC_PYTHON names. */
function irisRunner() {
  const methods = { predict: { batchable: true, maxBatchSize: 300 } }
  const executable = process.env.PUBLIC_PYTHON
  if (executable === undefined) {
    return onnxRunner<'int64'>('iris', file('../.venv/iris/model.onnx'), {
      outputs: ['output_label'],
      methods,
      intraOpThreads: 1,
    })
  }
  const python = file('./python/iris_model.py')
  const init = { file: file('../.venv/iris/model.joblib').pathname }
  return new Runner<{ predict(rows: NDArray): NDArray<'int64'> }>('iris', {
    python,
    executable,
    init,
    methods,
  })
}

const iris = irisRunner()
const inputs = [{ name: 'input-0', dtype: 'float32', shape: [-1, 4] }] as const
const outputs = [{ name: 'predict', dtype: 'int64', shape: [-1] }] as const

const greeting = fileURLToPath(file('../.venv/helloworld.proto'))
const greeter = loadSync(greeting, { keepCase: true, oneofs: true })['helloworld.Greeter']
const svc = new Service('public', {
  models: [{ runner: iris, inputs, outputs }],
  protocols: [grpcService(greeter as ServiceDefinition)],
})

// KServe's V1 protocol: the segment is sklearn-iris:predict.
const instances = z.object({ instances: z.array(z.array(z.number()).length(4)) })
svc.api(
  { route: '/v1/models/{call}', input: new io.JSON({ schema: instances }), output: new io.JSON() },
  async function predict({ instances }, ctx) {
    const rows = new NDArray(Float32Array.from(instances.flat()), [instances.length, 4])
    const { data } = await iris.predict(rows, ctx)
    return { predictions: Array.from(data, Number) }
  },
)

// LitServe's stream.
svc.api({ route: '/predict', input: new io.JSON(), output: new io.JSON() }, function* stream() {
  for (let output = 0; output < 10_000; output++) yield { output }
})

// The greeting of grpc_bench, by its own .proto.
svc.api({ input: new io.JSON(), output: new io.JSON() }, function SayHello(message) {
  return { response: (message as { request: io.JsonValue }).request }
})

export default svc
