/**
 * The module that a Runner's thread loads to serve an .onnx file.
 * @module
 */

import type { NDArray } from '../array/ndarray.ts'
import { InvalidArgument } from '../errors.ts'
import { loadOnnx, type OnnxModel, type OnnxOptions } from './onnxruntime.ts'

/** What a thread needs to know to load its model. On its way to another thread the file must be a path: a URL does not travel. */
export interface OnnxInit extends OnnxOptions {
  /** The .onnx file. */
  readonly path: string | URL
}

/** The methods of a loaded model. */
export interface OnnxMethods {
  /**
   * The model's only input becomes its first output, or the first of those that were asked for.
   * **Errors**: InvalidArgument when the model has more than one input; those of {@link OnnxModel.run}.
   */
  predict(x: NDArray): Promise<NDArray>
  /** Inputs by name become outputs by name: {@link OnnxModel.run}. */
  run(feeds: Readonly<Record<string, NDArray>>): Promise<Record<string, NDArray>>
  /** Frees the model's memory. */
  release(): Promise<void>
}

/**
 * An .onnx file becomes methods on the calling thread, once per thread.
 * **Errors**: those of {@link loadOnnx}.
 * **Example** `const { predict } = await load({ path: 'model.onnx', outputs: ['probabilities'] })`
 */
export async function load({ path, ...options }: OnnxInit): Promise<OnnxMethods> {
  return methodsOf(String(path), await loadOnnx(path, options))
}

function methodsOf(path: string, model: OnnxModel): OnnxMethods {
  const [input, ...others] = model.inputs
  const [output] = model.outputs
  return {
    async predict(x) {
      if (input === undefined || others.length > 0) {
        const names = model.inputs.map(({ name }) => name).join(', ')
        throw new InvalidArgument(`predict takes models of one input, ${path} has ${names || 'none'}; call run`)
      }
      return (await model.run({ [input.name]: x }))[output.name]
    },
    run: model.run,
    release: model.release,
  }
}
