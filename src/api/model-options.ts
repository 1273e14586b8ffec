import { type DType, isDType } from '../core/dtype.ts'
import { InvalidArgument } from '../core/errors.ts'
import {
  byteSize,
  checkedLater,
  listOf,
  type OptionsOf,
  oneOf,
  plain,
  readOptions,
  text,
  whole,
} from '../core/option.ts'
import { checkThat, isRecord } from '../core/options.ts'
import type { RunnerLife } from '../runner/runner.ts'
import type { Sampler } from './sampler.ts'

/** A named input or output of a model. **Shape**: -1 for any size. */
export interface ModelTensor {
  readonly name: string
  readonly dtype: DType
  /**
   * `BF16`: a float32 is sent and received as BF16, rounded to nearest.
   *
   * @default the dtype's own
   */
  readonly datatype?: 'BF16'
  readonly shape: readonly number[]
}

const tensors = listOf<ModelTensor>('a list of { name, dtype, shape }', isTensor)

const modelOptions = {
  runner: checkedLater<RunnerLife>().required(),
  /** @default the runner's name */
  name: text('<name>', 'a name'),
  /** @default `1` */
  version: plain<string>({ type: 'string', pattern: '^\\d+$' }, '<version>', 'digits'),
  /**
   * `run` takes and returns objects of NDArrays; other methods take the only input and return the
   * only output.
   *
   * @default `predict` with one input and one output, else `run`
   */
  method: checkedLater<string>(),
  /** @default from the runner's method `describe`, as of `onnxRunner` */
  inputs: tensors,
  outputs: tensors,
  /** Class names by output, for classification. */
  labels: checkedLater<Readonly<Record<string, readonly string[]>>>(),
}

/** How a runner is served as a model. */
export interface ModelOptions extends OptionsOf<typeof modelOptions> {}

/** A runner that is served as a model. */
export interface ServedModel extends ModelOptions {
  /** Of the server that records calls, which sets it. */
  sampler?: Sampler | undefined
}

const names = listOf<string>('a list of names', (name) => typeof name === 'string')

/** The options of {@link RepositoryOptions}. */
export const repositoryOptions = {
  /**
   * `poll`: the folder is checked regularly. `explicit`: load and unload requests. `none`: never.
   *
   * @default `none`
   */
  control: oneOf(['none', 'poll', 'explicit']).or('none'),
  /**
   * With `explicit`: the models that are loaded at the start, `*` for all.
   *
   * @default no models
   */
  load: names,
  /**
   * **Units**: milliseconds.
   *
   * @default 15,000
   */
  pollMs: whole(1).or(15_000),
  /**
   * Threads of each model.
   *
   * @default 1
   */
  threads: checkedLater<number>().or(1),
  /**
   * As in `onnxRunner`.
   *
   * @default `['cpu']`
   */
  executionProviders: checkedLater<readonly string[]>(),
  /**
   * The devices of each model's threads, in turn.
   *
   * @default the provider's
   */
  deviceIds: checkedLater<readonly number[]>(),
  /**
   * Name of the model if the folder is one model.
   *
   * @default the folder's
   */
  name: text('<name>', 'a name'),
  /**
   * Memory of the loaded models in each worker process, where a model counts as its files times its threads. Models
   * are then loaded when they are called, and those that were not used for the longest time make room.
   *
   * @default all models are loaded at once
   */
  maxBytes: byteSize,
  /**
   * With `maxBytes`: names of models that are loaded at once, and stay.
   *
   * @default `[]`
   */
  pin: names.or([]),
}

/** Options of a folder of models. */
export interface RepositoryOptions extends OptionsOf<typeof repositoryOptions> {}

/**
 * Checks the option `models`.
 *
 * @throws InvalidArgument.
 */
export function parseModels(
  given: readonly (RunnerLife | ModelOptions)[],
  service: string,
): readonly ServedModel[] {
  const place = `models of the service ${service}`
  const models = given.map((each) => parseModel(each, place))
  const keys = models.map(
    ({ runner, name = runner.name, version = '1' }) => `${name} version ${version}`,
  )
  const twice = keys.find((key, i) => keys.indexOf(key) !== i)
  if (twice !== undefined)
    throw new InvalidArgument(`the service ${service} has two models ${twice}`)
  return Object.freeze(models)
}

function parseModel(each: RunnerLife | ModelOptions, place: string): ModelOptions {
  if (!('runner' in each)) return { runner: each }
  const model = readOptions(place, each, modelOptions)
  if ((model.inputs === undefined) !== (model.outputs === undefined)) {
    throw new InvalidArgument(`expected both inputs and outputs for ${place}, received one of them`)
  }
  for (const { name, dtype, datatype } of [...(model.inputs ?? []), ...(model.outputs ?? [])]) {
    const isRight = datatype === undefined || (datatype === 'BF16' && dtype === 'float32')
    const both = `${datatype} with ${dtype}`
    checkThat(isRight, 'BF16 with dtype float32', `the datatype of ${name}`, both)
  }
  return model
}

function isTensor(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { name, dtype, shape } = value
  return typeof name === 'string' && isDType(dtype) && Array.isArray(shape)
}
