/** The pipeline of an inference, for every transport: model, outputs, errors. @module */

import { decodeFailureOf } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import { Overloaded } from '../../core/errors.ts'
import { isPromise, type MaybePromise, whenReady } from '../../core/promise.ts'
import { type Output, selectOutputs } from './infer-answer.ts'
import type { InferRequest } from './infer-request.ts'
import type { Failed, Model, ModelDescription } from './model.ts'
import { requireKnown } from './tensor-info.ts'

/** The requested outputs, or the error. */
export type Inference = { readonly outputs: readonly Output[] } | Failed

/** The answers of a streaming inference, or the error. */
export type StreamInference = { readonly answers: AsyncIterable<readonly Output[]> } | Failed

/** @throws Overloaded while it is not ready. */
export function describeModel(model: Model): MaybePromise<ModelDescription> {
  const { unready } = model
  if (unready !== undefined)
    throw new Overloaded(`the model ${model.name} is not ready: ${unready}`)
  return model.describe()
}

/** Never throws, never rejects. */
export function infer(model: Model, request: InferRequest, visit: Visit): MaybePromise<Inference> {
  return run(model, request, visit, ({ labels }) =>
    whenReady(model.infer(request.inputs, visit), (outcome) => {
      if ('error' in outcome) return outcome
      return { outputs: selectOutputs(outcome.outputs, request.outputs, labels) }
    }),
  )
}

/** As {@link infer}, for functions that yield. */
export function inferStream(
  model: Model,
  request: InferRequest,
  visit: Visit,
): MaybePromise<StreamInference> {
  return run(model, request, visit, ({ labels }) =>
    whenReady(model.stream(request.inputs, visit), (outcome) => {
      if ('error' in outcome) return outcome
      return { answers: selected(outcome.answers, request, labels) }
    }),
  )
}

function run<R>(
  model: Model,
  request: InferRequest,
  { ctx }: Visit,
  call: (description: ModelDescription) => MaybePromise<R>,
): MaybePromise<R | Failed> {
  return attempt(() =>
    whenReady(describeModel(model), (description): MaybePromise<R> => {
      const { outputs } = description
      // Before the model computes.
      if (outputs.length > 0) requireKnown(request.outputs ?? [], outputs, 'outputs')
      ctx.parameters = request.parameters
      return call(description)
    }),
  )
}

async function* selected(
  answers: AsyncIterable<Parameters<typeof selectOutputs>[0]>,
  { outputs }: InferRequest,
  labels: ModelDescription['labels'],
): AsyncGenerator<readonly Output[]> {
  for await (const tensors of answers) yield selectOutputs(tensors, outputs, labels)
}

/** @returns a failure as an error. */
export function attempt<R>(run: () => MaybePromise<R>): MaybePromise<R | Failed> {
  const fail = (error: unknown) => ({ error: decodeFailureOf(error) })
  try {
    const answer = run()
    if (isPromise(answer)) return answer.catch(fail)
    return answer
  } catch (error) {
    return fail(error)
  }
}
