/** The module that the threads of an ONNX Runner load. @module */

import type { DType, NumberDType } from '../../core/dtype.ts'
import { InvalidArgument } from '../../core/errors.ts'
import type { NDArray } from '../../values/array/ndarray.ts'
import type { ModelPlace } from '../model-host.ts'
import { loadOnnx, type OnnxOptions, type TensorInfo } from './onnxruntime.ts'

/** Argument of {@link load}. */
export interface OnnxInit extends OnnxOptions {
  readonly path: string | URL
}

/** What a file says of its model. */
export interface OnnxDescription {
  readonly platform: 'onnxruntime_onnx'
  readonly inputs: readonly TensorInfo[]
  readonly outputs: readonly TensorInfo[]
}

/** The methods of a loaded model, whose outputs have dtypes of `D`. */
export interface OnnxMethods<D extends DType = NumberDType> {
  /**
   * Computes the first output from the only input.
   *
   * @throws InvalidArgument for a model of several inputs.
   */
  predict(x: NDArray): Promise<NDArray<D>>
  /** Computes outputs by name from inputs by name: {@link OnnxModel.run}. */
  run(feeds: Readonly<Record<string, NDArray>>): Promise<Record<string, NDArray<D>>>
  describe(): OnnxDescription
  release(): Promise<void>
}

/**
 * Loads an .onnx file for the calling thread and returns its methods.
 *
 * @throws those of {@link loadOnnx}.
 */
export async function load<D extends DType = NumberDType>(
  { path, ...options }: OnnxInit,
  place?: ModelPlace,
): Promise<OnnxMethods<D>> {
  const model = await loadOnnx<D>(path, { deviceId: place?.device, ...options })
  const [input, ...others] = model.inputs
  const [output] = model.outputs
  return {
    async predict(x) {
      if (input === undefined || others.length > 0) {
        const names = model.inputs.map(({ name }) => name).join(', ')
        throw new InvalidArgument(
          `predict takes models of one input, ${path} has ${names || 'none'}; call run`,
        )
      }
      return (await model.run({ [input.name]: x }))[output.name]
    },
    run: model.run,
    describe: () => ({
      platform: 'onnxruntime_onnx',
      inputs: model.inputs,
      outputs: model.outputs,
    }),
    release: model.release,
  }
}
