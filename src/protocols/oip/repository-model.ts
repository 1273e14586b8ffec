/** The models of a folder, which a pool loads and closes. @module */
import type { ServedModel } from '../../api/model-options.ts'
import type { Visit } from '../../api/visit.ts'
import type { MaybePromise } from '../../core/promise.ts'
import type { Context } from '../../http/context.ts'
import type { ModelPool } from '../../runner/model-pool.ts'
import type { OnnxRunner } from '../../runner/onnx/index.ts'
import type { NDArray } from '../../values/array/ndarray.ts'
import type { ModelFile, ModelFolder } from './repository-folder.ts'
import { RunnerModel } from './runner-model.ts'
import type { Tensor } from './tensor.ts'

/** The Runner of a model, while the pool has it. */
export class PooledRunner {
  readonly name: string
  readonly pool: ModelPool<OnnxRunner>
  runner: OnnxRunner | undefined

  constructor(name: string, pool: ModelPool<OnnxRunner>) {
    this.name = name
    this.pool = pool
  }

  get unready(): string | undefined {
    return this.runner?.unready
  }

  predict(x: NDArray, ctx: Context) {
    return this.runner?.predict(x, ctx)
  }

  run(feeds: Readonly<Record<string, NDArray>>, ctx: Context) {
    return this.runner?.run(feeds, ctx)
  }

  describe() {
    return this.pool.use(this.name, (runner) => runner.describe())
  }
}

/** What captures are told of it. */
export interface FolderModel extends Omit<ServedModel, 'runner'> {
  readonly runner: PooledRunner
  readonly name: string
  readonly version: string
}

/** A version of a model, which the pool has loaded, or loads when it is called. */
export class RepositoryModel extends RunnerModel {
  readonly options: FolderModel
  readonly folder: ModelFolder
  readonly file: ModelFile
  readonly pooled: PooledRunner

  constructor(pooled: PooledRunner, folder: ModelFolder, file: ModelFile) {
    const options = { runner: pooled, name: folder.name, version: file.version }
    super(options, folder.maxBatchSize)
    this.options = options
    this.pooled = pooled
    this.folder = folder
    this.file = file
  }

  override infer(tensors: readonly Tensor[], visit: Visit): MaybePromise<readonly Tensor[]> {
    const { pool, name } = this.pooled
    return pool.use(name, () => super.infer(tensors, visit), visit.ctx)
  }
}
