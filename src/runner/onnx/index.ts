/**
 * Models in ONNX files: `serving/onnx`. Needs the optional package onnxruntime-node.
 *
 * **Sizing**: a model computes on the thread that calls it and keeps that thread until it is done, so it belongs into a
 * pool of threads. Let processes × pool threads × intra-op threads be at most the number of cores; beyond it, threads
 * only take turns and every answer is late. Many small requests: one intra-op thread each and as many pool threads as
 * there are cores (throughput). Few large ones: fewer pool threads with several intra-op threads each (latency). {@link
 * intraOpThreadsFor} divides the cores that way.
 *
 * **Ending threads**: onnxruntime-node 1.30 aborts the whole process when a thread is terminated, or `process.exit` is
 * called, while a model computes. So {@link onnxRunner} ends no thread in which a call hangs (`onHang: 'report'`): the
 * service is not ready then, and the log says why. With `isolation: 'process'` the process is ended and replaced.
 * @module
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expected, InvalidArgument } from '../../core/errors.ts'
import { Runner } from '../runner.ts'
import type { RunnerOptions } from '../runner-options.ts'
import { onnxruntime } from './onnxruntime.ts'

export { load, type OnnxDescription, type OnnxInit, type OnnxMethods } from './model.ts'
export { loadOnnx, type OnnxModel, type OnnxOptions, type TensorInfo } from './onnxruntime.ts'

/**
 * Returns the intra-op threads that each of `poolThreads` threads may use without taking another's core: at least 1.
 *
 * `cores` are those of this process: with several worker processes, the machine's cores divided by their number.
 * **Errors**: InvalidArgument unless both are whole numbers from 1 up.
 * **Example** `intraOpThreadsFor(2, 8) // 4`
 */
export function intraOpThreadsFor(poolThreads: number, cores: number = availableParallelism()): number {
  for (const [name, value] of Object.entries({ poolThreads, cores })) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new InvalidArgument(expected('a whole number from 1 up', name, value))
  }
  return Math.max(1, Math.floor(cores / poolThreads))
}

type OnnxModule = typeof import('./model.ts')

/** A Runner of an .onnx file, with the methods `predict`, `run` and `describe`. */
export type OnnxRunner = Runner<OnnxModule>

/** Options of {@link onnxRunner}: those of a Runner and of the model. */
export interface OnnxRunnerOptions extends Omit<RunnerOptions<OnnxModule>, 'module' | 'init' | 'methods'> {
  /**
   * The methods that can be called, and their options. Default: `predict` and `run`, unbatched, since a model may fix
   * its batch size. `describe` can always be called.
   */
  readonly methods?: RunnerOptions<OnnxModule>['methods']
  /** Threads of one run. Default: {@link intraOpThreadsFor} the Runner's threads. */
  readonly intraOpThreads?: number
  /** What computes: see {@link OnnxOptions}; `deviceIds` says where. Default `['cpu']`. */
  readonly executionProviders?: readonly string[]
  /** The outputs to compute; `predict` returns the first. Default: all. */
  readonly outputs?: readonly string[]
}

/**
 * Returns a Runner of an .onnx file.
 *
 * **Errors**: MissingDependencyException without onnxruntime-node and InvalidArgument for wrong options, at once; for a
 * file that is no model, when it starts.
 * **Example**
 * ```ts
 * const digits = onnxRunner('digits', new URL('./model.onnx', import.meta.url), {
 *   threads: 2, outputs: ['probabilities'], methods: { predict: { batchable: true, maxBatchSize: 64 } },
 * })
 * ```
 */
export function onnxRunner(name: string, file: string | URL, options: OnnxRunnerOptions = {}): OnnxRunner {
  const {
    threads = 1,
    intraOpThreads = intraOpThreadsFor(Math.max(1, threads)),
    outputs,
    methods,
    executionProviders,
    ...rest
  } = options
  onnxruntime()
  const path = file instanceof URL ? fileURLToPath(file) : file
  return new Runner<OnnxModule>(name, {
    onHang: rest.isolation === 'process' ? 'replace' : 'report',
    ...rest,
    threads,
    // Always the compiled one, also in tests: threads run compiled code, where an NDArray of the sources is another
    // class.
    module: new URL(
      import.meta.url.endsWith('.ts') ? '../../../dist/runner/onnx/model.js' : './model.js',
      import.meta.url,
    ),
    init: { path, intraOpThreads, ...(outputs && { outputs }), ...(executionProviders && { executionProviders }) },
    methods: { ...(methods ?? { predict: {}, run: {} }), describe: {} },
  })
}
