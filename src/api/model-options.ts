/** The runners of a service that clients may call by the Open Inference Protocol. @module */
import { type DType, isDType } from '../core/dtype.ts'
import { expected, InvalidArgument } from '../core/errors.ts'
import { checkOptions } from '../core/options.ts'
import type { RunnerLife } from '../runner/runner.ts'

/** A named input or output of a model. **Shape**: -1 where any size is taken. */
export interface ModelTensor {
  readonly name: string
  readonly dtype: DType
  /** `BF16` for a float32 that clients send and receive as BF16, rounded to the nearest. Default: the dtype's own. */
  readonly datatype?: 'BF16'
  readonly shape: readonly number[]
}

/** How a runner is served as a model. */
export interface ModelOptions {
  readonly runner: RunnerLife
  /** Default: the runner's name. */
  readonly name?: string
  /** Default `1`. */
  readonly version?: string
  /**
   * The runner's method. `run` takes and returns objects of NDArrays by name; any other takes the only input and
   * returns the only output. Default: `predict` for a model of one input and one output, else `run`.
   */
  readonly method?: string
  /** Default: what the runner's method `describe` returns, which those of `onnxRunner` have. */
  readonly inputs?: readonly ModelTensor[]
  readonly outputs?: readonly ModelTensor[]
  /** Names of the classes of an output, by its name, for clients that ask for a classification. */
  readonly labels?: Readonly<Record<string, readonly string[]>>
}

const optionNames = ['runner', 'name', 'version', 'method', 'inputs', 'outputs', 'labels']

/** Checks what is given as `models`: runners, or options with one. **Errors**: InvalidArgument. */
export function parseModels(given: readonly (RunnerLife | ModelOptions)[], service: string): readonly ModelOptions[] {
  const place = `models of the service ${service}`
  if (!Array.isArray(given)) throw new InvalidArgument(expected('a list', place, given))
  const models = given.map((each) => parseModel(each, place))
  const keys = models.map(({ runner, name = runner.name, version = '1' }) => `${name} version ${version}`)
  const twice = keys.find((key, i) => keys.indexOf(key) !== i)
  if (twice !== undefined) throw new InvalidArgument(`the service ${service} has two models ${twice}`)
  return Object.freeze(models)
}

function parseModel(each: RunnerLife | ModelOptions, place: string): ModelOptions {
  if (!('runner' in each)) return { runner: each }
  checkOptions(place, each, optionNames)
  const { name, version, inputs, outputs } = each
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw new InvalidArgument(expected('a name', place, name))
  }
  if (version !== undefined && !/^\d+$/.test(version)) {
    throw new InvalidArgument(expected('digits', `version of ${place}`, version))
  }
  if ((inputs === undefined) !== (outputs === undefined)) {
    throw new InvalidArgument(`expected both inputs and outputs for ${place}, received one of them`)
  }
  for (const tensor of [...(inputs ?? []), ...(outputs ?? [])]) {
    const ok = typeof tensor?.name === 'string' && isDType(tensor.dtype) && Array.isArray(tensor.shape)
    if (!ok) throw new InvalidArgument(expected('{ name, dtype, shape }', `inputs and outputs of ${place}`, tensor))
    const { datatype, dtype } = tensor
    if (datatype === undefined || (datatype === 'BF16' && dtype === 'float32')) continue
    throw new InvalidArgument(
      expected('BF16 with dtype float32', `the datatype of ${tensor.name}`, `${datatype} with ${dtype}`),
    )
  }
  return each
}
