/** What the protocol calls a model, and an API as one. @module */

import { performance } from 'node:perf_hooks'
import type { Api } from '../../api/api.ts'
import { firstOf, once, statusErrorOf } from '../../api/call-rpc.ts'
import type { Encoding } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import type { ServingError } from '../../core/errors.ts'
import { type MaybePromise, whenReady } from '../../core/promise.ts'
// The global of this name is a slow getter.
import type { HeaderNames } from '../../http/message.ts'
import { countInference, newStatistics, type Statistics } from './statistics.ts'
import type { Tensor } from './tensor.ts'
import { requireInputs, type TensorInfo, type TensorView } from './tensor-info.ts'
import { tensorView } from './tensor-view.ts'

/** What metadata and configuration say of a model. */
export interface ModelDescription {
  readonly platform: string
  readonly inputs: readonly TensorInfo[]
  readonly outputs: readonly TensorInfo[]
  /** Rows joined into one call; 0 if the first dimension is not rows. */
  readonly maxBatchSize: number
  readonly isStream: boolean
  readonly labels?: Readonly<Record<string, readonly string[]>> | undefined
}

/** What came of an inference. */
export type Outcome<R> = { readonly answer: R } | { readonly error: ServingError }

/** A model that can be called. */
export interface Model {
  readonly name: string
  readonly version: string
  readonly statistics: Statistics
  readonly readsHeaders: HeaderNames
  readonly unready: string | undefined
  /** @throws rejects while it is unready. */
  describe(): MaybePromise<ModelDescription>
  /** @throws ServingErrors. */
  infer(inputs: readonly Tensor[], visit: Visit): MaybePromise<readonly Tensor[]>
  /**
   * Awaits the first answer.
   *
   * @throws ServingErrors.
   */
  stream(inputs: readonly Tensor[], visit: Visit): MaybePromise<AsyncIterable<readonly Tensor[]>>
}

/** @returns the APIs whose descriptors are tensors. */
export function apiModels(apis: Iterable<Api>): Model[] {
  const models: Model[] = []
  for (const api of apis) {
    const input = tensorView(api.input, 'input')
    const output = tensorView(api.output, 'output')
    if (input !== undefined && output !== undefined) models.push(apiModel(api, input, output))
  }
  return models
}

/** The version of a model that has no others. */
export const onlyVersion = '1'

/** @returns the outcome of an inference that failed. */
export const fail = (error: ServingError) => ({ error })

function apiModel(api: Api, input: TensorView, output: TensorView): Model {
  const statistics = newStatistics()
  const isStream = output.toStream !== undefined && api.isGenerator
  const { infos: inputs } = input
  const { infos: outputs } = output
  const description = { platform: 'serving', inputs, outputs, maxBatchSize: 0, isStream }
  const protocol = 'oip'
  const unary: Encoding<Outcome<readonly Tensor[]>> = {
    protocol,
    encode: (_, result, ctx) =>
      whenReady(output.toTensors(result, ctx), (answer) => {
        const error = statusErrorOf(ctx)
        return error === undefined ? { answer } : { error }
      }),
    fail,
  }
  const streaming: Encoding<Outcome<AsyncIterable<readonly Tensor[]>>> = {
    protocol,
    encode: async (_, result, ctx) => {
      const answers = output.toStream?.(result, ctx) ?? once(() => output.toTensors(result, ctx))
      const first = await firstOf(answers[Symbol.asyncIterator](), result, ctx)
      return 'error' in first ? first : { answer: first.items }
    },
    fail,
  }
  const run = <R>(tensors: readonly Tensor[], visit: Visit, encoding: Encoding<Outcome<R>>) => {
    const decode = () => input.fromTensors(requireInputs(tensors, input), visit.ctx)
    return measured(statistics, tensors, () => visit.call(api, decode, encoding))
  }
  return {
    name: api.name,
    version: onlyVersion,
    statistics,
    readsHeaders: api.readsHeaders,
    unready: undefined,
    describe: () => description,
    infer: (inputs, visit) => run(inputs, visit, unary),
    stream: (inputs, visit) => run(inputs, visit, streaming),
  }
}

/**
 * Runs an inference and counts it.
 *
 * @throws its error.
 */
export function measured<R>(
  statistics: Statistics,
  [first]: readonly Tensor[],
  run: () => MaybePromise<Outcome<R>>,
): MaybePromise<R> {
  const start = performance.now()
  return whenReady(run(), (outcome) => {
    const rows = 'error' in outcome ? undefined : (first?.array.shape[0] ?? 1)
    countInference(statistics, rows, performance.now() - start)
    if ('error' in outcome) throw outcome.error
    return outcome.answer
  })
}
