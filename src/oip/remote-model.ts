/** The module of Runners with a `url`: a model of another server. @module */

import { expected, InvalidArgument } from '../core/errors.ts'
import type { ModelCall } from '../runner/model-host.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { watchBackends } from './backends.ts'
import { datatypeOf } from './datatype.ts'
import { GrpcTransport } from './remote-grpc.ts'
import { HttpTransport } from './remote-http.ts'
import type { RemoteDescription, RemoteInit, RemoteTransport } from './remote-transport.ts'
import type { Tensor } from './tensor.ts'

/** The methods of a remote model. */
export interface RemoteMethods {
  predict(x: NDArray, call: ModelCall): Promise<NDArray>
  /** **Errors**: the server's; Overloaded if no server is reachable; InternalError for an invalid answer. */
  run(feeds: Readonly<Record<string, NDArray>>, call: ModelCall): Promise<Record<string, NDArray>>
  describe(): Promise<RemoteDescription>
}

/** Connects to a model's servers, which may come later: until then it is unready. */
export async function load({ model, version, urls, life }: RemoteInit): Promise<RemoteMethods> {
  const isGrpc = urls.some((url) => url.startsWith('grpc'))
  const transport: RemoteTransport = isGrpc ? new GrpcTransport() : new HttpTransport()
  const backends = watchBackends(urls, (address) => transport.isReady(address, model, version), model, life)
  life.stopped.addEventListener('abort', () => transport.close(), { once: true })
  await backends.check()
  let description: Promise<RemoteDescription> | undefined
  const describe = (): Promise<RemoteDescription> => {
    description ??= backends.call((address) => transport.describe(address, model, version))
    description.catch(() => {
      description = undefined
    })
    return description
  }
  const run = async (feeds: Readonly<Record<string, NDArray>>, call: ModelCall) => {
    const { inputs: known } = await describe()
    const inputs = Object.entries(feeds).map(([name, array]): Tensor => {
      if (!(array instanceof NDArray)) throw new InvalidArgument(expected('an NDArray', `input ${name}`, array))
      const isBf16 = array.dtype === 'float32' && known.find((each) => each.name === name)?.datatype === 'BF16'
      return { name, datatype: isBf16 ? 'BF16' : datatypeOf(array.dtype), array }
    })
    const request = { model, version, inputs }
    const outputs = await backends.call((address) => transport.infer(address, request, call), call)
    return Object.fromEntries(outputs.map(({ name, array }) => [name, array]))
  }
  return {
    run,
    describe,
    async predict(x, call) {
      const { inputs, outputs } = await describe()
      if (inputs.length !== 1) {
        throw new InvalidArgument(`predict takes models of one input, ${model} has ${inputs.length}; call run`)
      }
      return (await run({ [inputs[0].name]: x }, call))[outputs[0].name]
    },
  }
}
