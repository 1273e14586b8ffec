/** A runner as a model: its arguments and results are arrays by name. @module */

import { once } from '../../api/call-rpc.ts'
import type { ModelOptions, ModelTensor, ServedModel } from '../../api/model-options.ts'
import type { Sample } from '../../api/sampler.ts'
import { functionFailureOf, withDeadline } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import { BadOutput, expected, InvalidArgument, Overloaded } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promise.ts'
import type { Context } from '../../http/context.ts'
import { NDArray } from '../../values/array/ndarray.ts'
import { datatypeFor, datatypeOf } from './datatype.ts'
import {
  fail,
  type Model,
  type ModelDescription,
  measured,
  type Outcome,
  onlyVersion,
} from './model.ts'
import { newStatistics } from './statistics.ts'
import type { Tensor } from './tensor.ts'
import { requireInputs, type TensorInfo } from './tensor-info.ts'

type Method = (input: unknown, ctx?: Context) => Promise<unknown>

interface Described extends Required<Pick<ModelOptions, 'inputs' | 'outputs'>> {
  readonly platform?: string
}

interface RunnerModelOptions extends Omit<ServedModel, 'runner'> {
  readonly runner: Pick<ServedModel['runner'], 'name' | 'unready'>
}

/** See {@link ModelOptions}. */
export class RunnerModel implements Model {
  readonly name: string
  readonly version: string
  readonly statistics = newStatistics()
  readonly readsHeaders = []
  readonly #options: RunnerModelOptions
  readonly #maxBatchSize: number
  #description: MaybePromise<ModelDescription> | undefined

  constructor(options: RunnerModelOptions, maxBatchSize = 0) {
    this.#options = options
    this.#maxBatchSize = maxBatchSize
    this.name = options.name ?? options.runner.name
    this.version = options.version ?? onlyVersion
  }

  get unready(): string | undefined {
    return this.#options.runner.unready
  }

  describe(): MaybePromise<ModelDescription> {
    this.#description ??= this.#describe()
    return this.#description
  }

  #describe(): MaybePromise<ModelDescription> {
    const { inputs, outputs } = this.#options
    if (inputs !== undefined && outputs !== undefined) return this.#described({ inputs, outputs })
    const describe = this.#method('describe')
    if (describe === undefined) {
      throw new InvalidArgument(
        `expected inputs and outputs for the model ${this.name}, whose runner has no method describe`,
      )
    }
    const answer = describe(undefined).then((found) => {
      this.#description = this.#described(found)
      return this.#description
    })
    answer.catch(() => {
      this.#description = undefined
    })
    return answer
  }

  #described(found: unknown): ModelDescription {
    const { inputs, outputs, platform = 'serving' } = found as Described
    const { labels } = this.#options
    const maxBatchSize = this.#maxBatchSize
    // onnxruntime-node says the same of a scalar and of any number of dimensions: the model tells.
    const isAny = ({ shape }: ModelTensor) => platform === 'onnxruntime_onnx' && shape.length === 0
    return {
      platform,
      inputs: inputs.map((tensor) => ({ ...infoOf(tensor), isAnyShape: isAny(tensor) })),
      outputs: outputs.map(infoOf),
      maxBatchSize,
      isStream: false,
      labels,
    }
  }

  infer(tensors: readonly Tensor[], { ctx }: Visit): MaybePromise<readonly Tensor[]> {
    const sample = this.#options.sampler?.sample(ctx, 'oip')
    return measured(this.statistics, tensors, () => {
      const outcome = withDeadline(ctx, this.#infer(tensors, ctx, sample), { fail })
      return sample === undefined ? outcome : outcome.then((each) => sample.answered(each))
    })
  }

  async stream(
    tensors: readonly Tensor[],
    visit: Visit,
  ): Promise<AsyncIterable<readonly Tensor[]>> {
    const outputs = await this.infer(tensors, visit)
    return once(() => outputs)
  }

  async #infer(
    given: readonly Tensor[],
    ctx: Context,
    sample: Sample | undefined,
  ): Promise<Outcome<readonly Tensor[]>> {
    try {
      const { unready } = this
      if (unready !== undefined) throw new Overloaded(`the model ${this.name} is not ready`)
      const { inputs, outputs } = await this.describe()
      const arrays = requireInputs(given, { infos: inputs })
      const isSingle = inputs.length === 1 && outputs.length === 1
      const method =
        this.#options.method ??
        (isSingle && this.#method('predict') !== undefined ? 'predict' : 'run')
      const call = this.#method(method)
      if (call === undefined) {
        throw new InvalidArgument(
          `expected a method ${method} of the runner of the model ${this.name}`,
        )
      }
      const feeds: Record<string, NDArray> = {}
      for (const tensor of arrays) if (tensor !== undefined) feeds[tensor.name] = tensor.array
      sample?.input(feeds)
      const result = await call(method === 'run' ? feeds : feeds[inputs[0].name], ctx)
      const tensors = tensorsOf(result, outputs)
      sample?.result(Object.fromEntries(tensors.map(({ name, array }) => [name, array])))
      return { answer: tensors }
    } catch (error) {
      return fail(functionFailureOf(error))
    }
  }

  #method(name: string): Method | undefined {
    const method: unknown = (this.#options.runner as unknown as Readonly<Record<string, unknown>>)[
      name
    ]
    if (typeof method === 'function') return method.bind(this.#options.runner) as Method
    return undefined
  }
}

function infoOf({ name, dtype, datatype, shape }: ModelTensor): TensorInfo {
  return { name, datatype: datatype ?? datatypeOf(dtype), shape }
}

function tensorsOf(result: unknown, infos: readonly TensorInfo[]): readonly Tensor[] {
  const arrays = result instanceof NDArray ? { [infos[0].name]: result } : Object(result)
  return infos.map(({ name, datatype }) => {
    const array: unknown = arrays[name]
    if (array instanceof NDArray)
      return { name, datatype: datatypeFor(array.dtype, datatype), array }
    throw new BadOutput(
      expected('an NDArray', `output ${JSON.stringify(name)} of the model`, array),
    )
  })
}
