/**
 * Models in ONNX files: `serving/onnx`. Needs the optional package onnxruntime-node. **Sizing**: processes × threads
 * × intra-op threads ≤ cores: {@link intraOpThreadsFor} divides them. **Ending threads**: onnxruntime-node aborts
 * the process if a thread ends while a model loads or computes. So {@link onnxRunner} ends no thread in which a call
 * hangs (`onHang: 'report'`); with `isolation: 'process'`, the process is replaced.
 * @module serving/onnx
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { DType, NumberDType } from '../../core/dtype.ts'
import { checkAtLeast } from '../../core/options.ts'
import type { ModelPlace } from '../model-host.ts'
import { Runner } from '../runner.ts'
import type { RunnerOptions } from '../runner-options.ts'
import { compiled } from '../worker.ts'
import type { OnnxInit, OnnxMethods } from './model.ts'
import { onnxruntime } from './onnxruntime.ts'
import type { ModelSignature } from './signature.ts'

export {
  type AnswersOf,
  type FeedsOf,
  load,
  type OnnxDescription,
  type OnnxInit,
  type OnnxMethods,
} from './model.ts'
export { loadOnnx, type OnnxModel, type OnnxOptions, type TensorInfo } from './onnxruntime.ts'
export type { ArraysOf, ModelSignature, TensorType, TensorTypes } from './signature.ts'

/**
 * `cores` are those of this process: divide the machine's by the worker processes.
 *
 * @returns the intra-op threads for each of `poolThreads` threads: at least 1.
 * @throws InvalidArgument unless both are positive integers.
 * @example
 * `intraOpThreadsFor(2, 8) // 4`
 */
export function intraOpThreadsFor(
  poolThreads: number,
  cores: number = availableParallelism(),
): number {
  const threads = checkAtLeast('poolThreads', poolThreads, 1)
  return Math.max(1, Math.floor(checkAtLeast('cores', cores, 1) / threads))
}

interface OnnxModule<D extends DType | ModelSignature> {
  load(init: OnnxInit, place?: ModelPlace): Promise<OnnxMethods<D>>
}

/**
 * A Runner of an .onnx file, with the methods `predict`, `run` and `describe`. Outputs have dtypes of `D`, or `D` is
 * the signature.
 */
export type OnnxRunner<D extends DType | ModelSignature = NumberDType> = Runner<OnnxModule<D>>

/** Options of {@link onnxRunner}. */
export interface OnnxRunnerOptions<D extends DType | ModelSignature = DType>
  extends Omit<RunnerOptions<OnnxModule<DType>>, 'module' | 'init' | 'methods'> {
  /** The methods that can be called. Default: `predict` and `run`, unbatched. `describe` can always be called. */
  readonly methods?: RunnerOptions<OnnxModule<DType>>['methods']
  /**
   * Threads of one run.
   *
   * @default {@link intraOpThreadsFor} the Runner's threads
   */
  readonly intraOpThreads?: number
  /**
   * Execution providers: see {@link OnnxOptions}; `deviceIds` sets the devices.
   *
   * @default `['cpu']`
   */
  readonly executionProviders?: readonly string[]
  /**
   * The outputs to compute; `predict` returns the first.
   *
   * @default those of the signature, else all
   */
  readonly outputs?: readonly string[]
  /** Types inputs and outputs; the file must have it. `serving types` writes it. */
  readonly signature?: D & ModelSignature
}

/**
 * `D`: its `signature`, or the dtypes of its outputs, which nothing checks.
 *
 * @default all whose elements are numbers; for a model that answers int64 write
 * `onnxRunner<'int64'>`
 * @returns a Runner of an .onnx file.
 * @throws at once MissingDependencyException without onnxruntime-node and InvalidArgument for wrong
 * options; at its start, those of the file.
 * @example
 * `onnxRunner('digits', new URL('./model.onnx', import.meta.url), { threads: 2 })`
 */
export function onnxRunner<const D extends DType | ModelSignature = NumberDType>(
  name: string,
  file: string | URL,
  options: OnnxRunnerOptions<D> = {},
): OnnxRunner<D> {
  const {
    threads = 1,
    intraOpThreads = intraOpThreadsFor(Math.max(1, threads)),
    outputs,
    methods,
    executionProviders,
    signature,
    ...rest
  } = options
  onnxruntime()
  const path = file instanceof URL ? fileURLToPath(file) : file
  const runner: unknown = new Runner<OnnxModule<NumberDType>>(name, {
    version: () => hashOf(path),
    onHang: rest.isolation === 'process' ? 'replace' : 'report',
    ...rest,
    threads,
    // The compiled module, also in tests: threads run compiled code, with another NDArray class than the sources.
    module: compiled('onnx/model'),
    init: {
      path,
      intraOpThreads,
      ...(outputs && { outputs }),
      ...(signature && { signature }),
      ...(executionProviders && { executionProviders }),
    },
    methods: { ...(methods ?? { predict: {}, run: {} }), describe: {} },
  })
  return runner as OnnxRunner<D>
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(path)) hash.update(piece)
  return hash.digest('hex')
}
