/** The pipeline of an inference, for every transport: model, outputs, errors. @module */

import { decodeFailureOf } from '../../api/stages.ts'
import type { Visit } from '../../api/visit.ts'
import { Overloaded, type ServingError } from '../../core/errors.ts'
import { isPromise, type MaybePromise, whenReady } from '../../core/promise.ts'
import { type Output, selectOutputs } from './infer-answer.ts'
import { type InferRequest, requireDistinct } from './infer-request.ts'
import type { Model, ModelDescription } from './model.ts'
import { requireKnown } from './tensor-info.ts'

/** @throws Overloaded while it is not ready. */
export function describeModel(model: Model): MaybePromise<ModelDescription> {
  const { unready } = model
  if (unready !== undefined)
    throw new Overloaded(`the model ${model.name} is not ready: ${unready}`)
  return model.describe()
}

/**
 * @returns the requested outputs.
 * @throws ServingErrors.
 */
export function infer(
  model: Model,
  request: InferRequest,
  visit: Visit,
): MaybePromise<readonly Output[]> {
  return whenReady(begin(model, request, visit), ({ labels }) =>
    whenReady(model.infer(request.inputs, visit), (tensors) =>
      selectOutputs(tensors, request.outputs, labels),
    ),
  )
}

/** As {@link infer}, for functions that yield. */
export async function inferStream(
  model: Model,
  request: InferRequest,
  visit: Visit,
): Promise<AsyncIterable<readonly Output[]>> {
  const { labels } = await begin(model, request, visit)
  const answers = await model.stream(request.inputs, visit)
  return (async function* selected() {
    for await (const tensors of answers) yield selectOutputs(tensors, request.outputs, labels)
  })()
}

/** Refuses equal names and unknown outputs before the model computes. */
function begin(
  model: Model,
  { inputs, outputs = [], parameters }: InferRequest,
  { ctx }: Visit,
): MaybePromise<ModelDescription> {
  requireDistinct(inputs, 'input')
  requireDistinct(outputs, 'output')
  return whenReady(describeModel(model), (description) => {
    const known = description.outputs
    if (known.length > 0) requireKnown(outputs, known, 'outputs')
    ctx.parameters = parameters
    return description
  })
}

/** @returns what `failed` makes of an error. */
export function attempt<R, F>(
  run: () => MaybePromise<R>,
  failed: (error: ServingError) => F,
): MaybePromise<R | F> {
  const fail = (error: unknown) => failed(decodeFailureOf(error))
  try {
    const answer = run()
    if (isPromise(answer)) return answer.catch(fail)
    return answer
  } catch (error) {
    return fail(error)
  }
}
