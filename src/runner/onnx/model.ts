/** The module that the threads of an ONNX Runner load. @module */

import type { DType, NumberDType } from '../../core/dtype.ts'
import { InvalidArgument } from '../../core/errors.ts'
import type { NDArray } from '../../values/array/ndarray.ts'
import type { ModelPlace } from '../model-host.ts'
import { loadOnnx, type OnnxModel, type OnnxOptions, type TensorInfo } from './onnxruntime.ts'
import { type ArraysOf, breaksOf, type ModelSignature } from './signature.ts'

/** Argument of {@link load}. */
export interface OnnxInit extends OnnxOptions {
  readonly path: string | URL
  readonly signature?: ModelSignature
}

/** The inputs of a model by name, of the signature `D`. */
export type FeedsOf<D> = [D] extends [infer S extends ModelSignature]
  ? ArraysOf<S['inputs']>
  : Readonly<Record<string, NDArray>>

/** The outputs of a model by name, of the signature `D` or of its dtypes. */
export type AnswersOf<D> = [D] extends [infer S extends ModelSignature]
  ? ArraysOf<S['outputs']>
  : Record<string, NDArray<Extract<D, DType>>>

/** What a file says of its model. */
export interface OnnxDescription {
  readonly platform: 'onnxruntime_onnx'
  readonly inputs: readonly TensorInfo[]
  readonly outputs: readonly TensorInfo[]
}

/** The methods of a loaded model, whose outputs have dtypes of `D`, or which has the signature `D`. */
export interface OnnxMethods<D extends DType | ModelSignature = NumberDType> {
  /**
   * Computes the first output from the only input.
   *
   * @throws InvalidArgument for a model of several inputs.
   */
  predict(x: FeedsOf<D>[keyof FeedsOf<D>]): Promise<AnswersOf<D>[keyof AnswersOf<D>]>
  /** Computes outputs by name from inputs by name: {@link OnnxModel.run}. */
  run(feeds: FeedsOf<D>): Promise<AnswersOf<D>>
  describe(): OnnxDescription
  release(): Promise<void>
}

/**
 * Loads an .onnx file for the calling thread and returns its methods.
 *
 * @throws those of {@link loadOnnx}; InvalidArgument if the file has another signature.
 */
export async function load<D extends DType | ModelSignature = NumberDType>(
  { path, signature, ...options }: OnnxInit,
  place?: ModelPlace,
): Promise<OnnxMethods<D>> {
  const outputs = signature && { outputs: Object.keys(signature.outputs) }
  const model = await loadOnnx<DType>(path, { deviceId: place?.device, ...outputs, ...options })
  const [wrong] = signature ? breaksOf(signature, signatureOf(model, signature)) : []
  if (wrong === undefined) return methodsOf(model, path) as unknown as OnnxMethods<D>
  await model.release()
  throw new InvalidArgument(
    `expected ${path} to fit its signature, ${wrong.text}: serving types writes it again`,
  )
}

/** onnxruntime-node has an empty shape for any number of axes, too: then the signature's holds. */
function signatureOf(model: OnnxModel<DType>, signature: ModelSignature): ModelSignature {
  const typesOf = (side: keyof ModelSignature) =>
    Object.fromEntries(
      model[side].map(({ name, dtype, shape }) => {
        const known = shape.length > 0 && { shape }
        return [name, { ...signature[side][name], dtype, ...known }]
      }),
    )
  return { inputs: typesOf('inputs'), outputs: typesOf('outputs') }
}

/** Called by the thread, which then loads another file. */
export const releaseModel = (model: OnnxMethods) => model.release()

function methodsOf(model: OnnxModel<DType>, path: string | URL): OnnxMethods<DType> {
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
