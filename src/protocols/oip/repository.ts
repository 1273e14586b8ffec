/** Models of a folder, which may change while the server runs. @module */
import { basename, resolve } from 'node:path'
import { type RepositoryOptions, repositoryOptions } from '../../api/model-options.ts'
import {
  BadInput,
  expected,
  NotFound,
  Overloaded,
  ServingError,
  tellsDetail,
} from '../../core/errors.ts'
import { readOptions, type SettingsOf } from '../../core/option.ts'
import { checkThat } from '../../core/options.ts'
import type { ModelPool } from '../../runner/model-pool.ts'
import { type OnnxRunner, onnxRunner } from '../../runner/onnx/index.ts'
import type { RunnerLife, StartOptions } from '../../runner/runner.ts'
import type { RunnerEvent } from '../../runner/worker-supervisor.ts'
import { requireConfigured } from './configured-tensors.ts'
import type { Model } from './model.ts'
import {
  bytesBeside,
  type ModelFile,
  type ModelFolder,
  modelFolders,
  readModelFolder,
} from './repository-folder.ts'
import { type FolderModel, PooledRunner, RepositoryModel } from './repository-model.ts'
import { RunnerModel } from './runner-model.ts'

interface Fault {
  /** For clients: without paths, and without what files say. */
  readonly reason: string
  /** Of the file that did not load; empty for a fault of the folder. */
  readonly files: string
  readonly message: string
}

/** A folder of models, for the `models` of a service. See {@link modelRepository}. */
export class ModelRepository implements RunnerLife {
  readonly name: string
  readonly waiting = 0
  readonly folder: string
  readonly control: 'none' | 'poll' | 'explicit'
  readonly #options: SettingsOf<typeof repositoryOptions>
  readonly #models = new Map<string, Map<string, RepositoryModel>>()
  /** By the names of their Runners, which the pool loads. */
  readonly #pooled = new Map<string, RepositoryModel>()
  readonly #faults = new Map<string, Fault>()
  readonly #listeners = new Set<(event: RunnerEvent) => void>()
  readonly #followers = new Set<(model: FolderModel) => void>()
  /** Whose files are being loaded. */
  readonly #starting = new Set<OnnxRunner>()
  #pool: ModelPool<OnnxRunner> | undefined
  #isStopping = false
  #last: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #users = 0
  #count = 0

  constructor(folder: string, given: RepositoryOptions) {
    this.#options = readOptions('modelRepository', given, repositoryOptions)
    checkThat(typeof folder === 'string', 'a path', 'modelRepository', folder)
    this.folder = resolve(folder)
    this.name = `repository_${basename(this.folder).replace(/[^\w.-]/g, '_')}`
    const { control, load } = this.#options
    this.control = control
    const isRight = load === undefined || control === 'explicit'
    checkThat(isRight, "control 'explicit' for load", 'modelRepository', control)
  }

  /** Undefined: each model has its own readiness. */
  get unready(): string | undefined {
    if (this.#users === 0) return `the models of ${basename(this.folder)} have not been loaded`
    return undefined
  }

  async start(_?: StartOptions): Promise<void> {
    if (this.#users++ > 0) return
    if (this.control === 'explicit') await this.#loadNamed(this.#options.load ?? [])
    else await this.scan()
    if (this.#users === 0)
      throw new Overloaded(`the start of the models of ${basename(this.folder)} was broken off`)
    if (this.control !== 'poll') return
    this.#timer = setInterval(() => void this.scan().catch(() => {}), this.#options.pollMs).unref()
  }

  async stop(): Promise<void> {
    if (this.#users === 0 || --this.#users > 0) return
    clearInterval(this.#timer)
    this.#isStopping = true
    for (const runner of this.#starting) void runner.stop()
    await this.#last
    this.#models.clear()
    await this.#pool?.stop()
    this.#pooled.clear()
    this.#pool = undefined
    this.#isStopping = false
  }

  /** @throws InvalidArgument for a name that the folder does not have. */
  async #loadNamed(load: readonly string[]): Promise<void> {
    const folders = await this.#folders()
    const unknown = load.find((name) => name !== '*' && !folders.has(name))
    checkThat(unknown === undefined, 'the name of a model', 'load of modelRepository', unknown)
    await this.#loadAll(load.includes('*') ? folders.keys() : load)
  }

  /** Reports what cannot be loaded, and loads the rest. */
  async #loadAll(names: Iterable<string>): Promise<void> {
    await Promise.all(Array.from(names, (name) => this.load(name).catch(() => {})))
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  families() {
    return this.#pool?.families() ?? []
  }

  models(listener: (model: FolderModel) => void): void {
    this.#followers.add(listener)
    for (const { options } of this.all()) listener(options)
  }

  /** @returns the versions; undefined if the folder does not have the model. */
  get(name: string): ReadonlyMap<string, Model> | undefined {
    return this.#models.get(name)
  }

  all(): RepositoryModel[] {
    return [...this.#models.values()].flatMap((versions) => [...versions.values()])
  }

  names(): ReadonlyMap<string, string | undefined> {
    const all = [...this.#models.keys(), ...this.#faults.keys()]
    return new Map(all.map((name) => [name, this.#faults.get(name)?.reason]))
  }

  async scan(): Promise<void> {
    const folders = await this.#folders()
    await this.#loadAll(folders.keys())
    for (const name of this.names().keys()) if (!folders.has(name)) await this.unload(name)
  }

  /**
   * Warms new versions up before they replace the old.
   *
   * @throws NotFound; BadInput, and the old versions stay.
   */
  load(name: string): Promise<void> {
    return this.#inTurn(() => this.#load(name))
  }

  unload(name: string): Promise<void> {
    return this.#inTurn(async () => {
      const versions = [...(this.#models.get(name)?.values() ?? [])]
      this.#models.delete(name)
      this.#faults.delete(name)
      await Promise.all(versions.map((model) => this.#remove(model)))
    })
  }

  #folders(): Promise<ReadonlyMap<string, string>> {
    return modelFolders(this.folder, this.#options.name ?? basename(this.folder))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }

  async #load(name: string): Promise<void> {
    if (this.#isStopping) throw this.#ending()
    const path = (await this.#folders()).get(name)
    if (path === undefined)
      throw new NotFound(expected('the name of a model', 'the repository', name))
    const before = this.#models.get(name) ?? new Map<string, RepositoryModel>()
    const after = new Map<string, RepositoryModel>()
    const added: RepositoryModel[] = []
    const folder = await readModelFolder(path, name).catch((cause: Error) => {
      throw this.#failed(name, '', cause)
    })
    try {
      for (const file of folder.versions) {
        const same = before.get(file.version)
        const isSame = same?.file.signature === file.signature
        after.set(file.version, isSame ? same : await this.#add(folder, file, added))
      }
    } catch (error) {
      await Promise.all(added.map((model) => this.#remove(model)))
      throw error
    }
    const { files } = this.#faults.get(name) ?? {}
    if (!folder.versions.some(({ signature }) => signature === files)) this.#faults.delete(name)
    this.#models.set(name, after)
    for (const { options } of after.values()) for (const follow of this.#followers) follow(options)
    for (const [version, old] of before) if (after.get(version) !== old) void this.#remove(old)
  }

  #ending(): Overloaded {
    return new Overloaded('the server stops', { limit: 'draining' })
  }

  /** Reports a fault once, not at every poll or call. */
  #failed(name: string, files: string, cause: Error): ServingError {
    if (this.#isStopping) return this.#ending()
    // The error around this one names another thread each time.
    const { message } = cause.cause instanceof Error ? cause.cause : cause
    const known = this.#faults.get(name)
    const told =
      ServingError.is(cause) && tellsDetail(cause) ? cause.message : "the server's log says why"
    const reason = `the model could not be loaded: ${told}`
    this.#faults.set(name, { reason, files, message })
    if (known?.files !== files || known.message !== message)
      this.#tell({
        kind: 'load_failed',
        message: `the model ${name} could not be loaded: ${cause.message}`,
        cause,
      })
    return new BadInput(reason)
  }

  /** Loads a new version at once, unless memory is bounded: its first call loads it then. */
  async #add(
    folder: ModelFolder,
    file: ModelFile,
    added: RepositoryModel[],
  ): Promise<RepositoryModel> {
    const { name } = folder
    const place = `${name.replace(/[^\w.-]/g, '_')}_${file.version}_${++this.#count}`
    const id = /^\w/.test(place) ? place : `m${place}`
    this.#pool ??= await this.#newPool()
    const pool = this.#pool
    const model = new RepositoryModel(new PooledRunner(id, pool), folder, file)
    this.#pooled.set(id, model)
    added.push(model)
    const { maxBytes, pin } = this.#options
    if (pin.includes(name) || this.control === 'explicit' || maxBytes === undefined)
      await pool.use(id, () => {})
    return model
  }

  async #newPool(): Promise<ModelPool<OnnxRunner>> {
    const { ModelPool } = await import('../../runner/model-pool.ts')
    const { maxBytes = Number.MAX_SAFE_INTEGER } = this.#options
    const pool = new ModelPool(this.name, { maxBytes, load: (id) => this.#open(id) })
    await pool.start()
    return pool
  }

  /** Loads a version for the pool. */
  async #open(id: string) {
    const { folder, file, pooled } = this.#pooled.get(id) as RepositoryModel
    const { name, maxBatchSize, maxWaitMs, config } = folder
    const { threads, executionProviders, deviceIds, pin } = this.#options
    const predict = maxBatchSize > 0 ? { batchable: true, maxBatchSize, maxWaitMs } : {}
    const runner = onnxRunner(id, file.path, {
      threads,
      methods: { predict, run: {} },
      executionProviders,
      deviceIds,
    })
    runner.watch((event) => this.#tell(event))
    this.#starting.add(runner)
    try {
      await runner.start()
      const description = await new RunnerModel({ runner, name }, maxBatchSize).describe()
      requireConfigured(config, `config.pbtxt of ${name}`, description)
    } catch (cause) {
      await runner.stop()
      throw this.#failed(name, file.signature, cause as Error)
    } finally {
      this.#starting.delete(runner)
    }
    if (this.#faults.get(name)?.files === file.signature) this.#faults.delete(name)
    this.#tell({ kind: 'replaced', message: `the model ${name} is loaded` })
    pooled.runner = runner
    const close = () => {
      pooled.runner = undefined
      return runner.stop()
    }
    const bytes = threads * (await bytesBeside(file.path))
    return { model: runner, bytes, pin: pin.includes(name), close }
  }

  /** Its calls end before it is gone. */
  async #remove({ pooled }: RepositoryModel): Promise<void> {
    await pooled.pool.unload(pooled.name)
    this.#pooled.delete(pooled.name)
  }

  #tell(event: RunnerEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

/**
 * Serves a folder of ONNX models, `name/version/model.onnx`. `config.pbtxt` may give
 * `max_batch_size`, `dynamic_batching`, `version_policy` and `default_model_filename`; `input` and
 * `output` must match.
 *
 * @throws InvalidArgument for wrong options.
 * @example
 * `new Service('models', { models: [modelRepository('/mnt/models', { control: 'poll' })] })`
 */
export function modelRepository(folder: string, options: RepositoryOptions = {}): RunnerLife {
  return new ModelRepository(folder, options)
}
