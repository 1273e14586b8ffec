/** Models of a folder, which may change while the server runs. @module */
import { basename, join, resolve } from 'node:path'
import type { RepositoryOptions, ServedModel } from '../../api/model-options.ts'
import type { Visit } from '../../api/visit.ts'
import {
  BadInput,
  expected,
  InvalidArgument,
  NotFound,
  Overloaded,
  ServingError,
  tellsDetail,
} from '../../core/errors.ts'
import { checkAtLeast, checkOneOf, checkOptions, checkThat } from '../../core/options.ts'
import type { MaybePromise } from '../../core/promise.ts'
import { type OnnxRunner, onnxRunner } from '../../runner/onnx/index.ts'
import type { RunnerLife, StartOptions } from '../../runner/runner.ts'
import type { RunnerEvent } from '../../runner/worker-supervisor.ts'
import { requireConfigured } from './configured-tensors.ts'
import type { Model, Outcome } from './model.ts'
import {
  type ModelFile,
  type ModelFolder,
  modelNames,
  readModelFolder,
} from './repository-folder.ts'
import { RunnerModel } from './runner-model.ts'
import { shown, type Tensor } from './tensor.ts'

interface Fault {
  /** For clients: without paths, and without what files say. */
  readonly reason: string
  readonly signature: string
}

type FolderModel = ServedModel & Required<Pick<ServedModel, 'name' | 'version'>>

class LoadedModel extends RunnerModel {
  readonly signature: string
  readonly options: FolderModel
  readonly #runner: OnnxRunner
  readonly #calls = new Set<MaybePromise<Outcome>>()

  constructor(
    runner: OnnxRunner,
    name: string,
    { version, signature }: ModelFile,
    maxBatchSize: number,
  ) {
    const options = { runner, name, version }
    super(options, maxBatchSize)
    this.options = options
    this.#runner = runner
    this.signature = signature
  }

  override infer(tensors: readonly Tensor[], visit: Visit): MaybePromise<Outcome> {
    const outcome = super.infer(tensors, visit)
    this.#calls.add(outcome)
    void Promise.resolve(outcome).finally(() => this.#calls.delete(outcome))
    return outcome
  }

  async end(): Promise<void> {
    while (this.#calls.size > 0) await Promise.all(this.#calls)
    await this.#runner.stop()
  }
}

const optionNames = [
  'control',
  'load',
  'pollMs',
  'threads',
  'executionProviders',
  'deviceIds',
  'name',
]

/** A folder of models, for the `models` of a service. See {@link modelRepository}. */
export class ModelRepository implements RunnerLife {
  readonly name: string
  readonly waiting = 0
  readonly folder: string
  readonly control: 'none' | 'poll' | 'explicit'
  readonly #options: RepositoryOptions
  readonly #models = new Map<string, Map<string, LoadedModel>>()
  readonly #faults = new Map<string, Fault>()
  readonly #listeners = new Set<(event: RunnerEvent) => void>()
  readonly #followers = new Set<(model: FolderModel) => void>()
  /** Whose files are being loaded. */
  readonly #starting = new Set<OnnxRunner>()
  #isStopping = false
  #last: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #users = 0
  #count = 0

  constructor(folder: string, given: RepositoryOptions) {
    const options = checkOptions('modelRepository', given, optionNames)
    const { control = 'none', load, pollMs = 15_000 } = options
    if (typeof folder !== 'string')
      throw new InvalidArgument(expected('a path', 'modelRepository', folder))
    checkAtLeast('pollMs of modelRepository', pollMs, 1)
    this.folder = resolve(folder)
    this.name = `repository_${basename(this.folder).replace(/[^\w.-]/g, '_')}`
    this.control = checkOneOf('control of modelRepository', control, ['none', 'poll', 'explicit'])
    if (load !== undefined) {
      checkThat(control === 'explicit', "control 'explicit' for load", 'modelRepository', control)
      checkThat(Array.isArray(load), 'a list of names', 'load of modelRepository', load)
    }
    this.#options = options
  }

  /** Undefined: each model has its own readiness. */
  get unready(): string | undefined {
    return this.#users === 0
      ? `the models of ${basename(this.folder)} have not been loaded`
      : undefined
  }

  async start(_?: StartOptions): Promise<void> {
    if (this.#users++ > 0) return
    if (this.control === 'explicit') await this.#loadNamed(this.#options.load ?? [])
    else await this.scan()
    if (this.#users === 0)
      throw new Overloaded(`the start of the models of ${basename(this.folder)} was broken off`)
    if (this.control !== 'poll') return
    this.#timer = setInterval(
      () => void this.scan().catch(() => {}),
      this.#options.pollMs ?? 15_000,
    )
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    if (this.#users === 0 || --this.#users > 0) return
    clearInterval(this.#timer)
    this.#isStopping = true
    for (const runner of this.#starting) void runner.stop()
    await this.#last.catch(() => {})
    this.#isStopping = false
    const all = this.all()
    this.#models.clear()
    await Promise.all(all.map((model) => model.end()))
  }

  /** @throws InvalidArgument for a name that the folder does not have. */
  async #loadNamed(load: readonly string[]): Promise<void> {
    const names = await modelNames(this.folder, this.#only)
    const unknown = load.find((name) => name !== '*' && !names.includes(name))
    const place = 'load of modelRepository'
    if (unknown !== undefined)
      throw new InvalidArgument(expected('the name of a model', place, unknown))
    await this.#loadAll(load.includes('*') ? names : load)
  }

  /** Reports what cannot be loaded, and loads the rest. */
  async #loadAll(names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => this.load(name).catch(() => {})))
  }

  watch(listener: (event: RunnerEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  models(listener: (model: FolderModel) => void): void {
    this.#followers.add(listener)
    for (const { options } of this.all()) listener(options)
  }

  /** @returns the loaded versions; undefined if the folder does not have the model. */
  get(name: string): ReadonlyMap<string, Model> | undefined {
    return this.#models.get(name)
  }

  all(): LoadedModel[] {
    return [...this.#models.values()].flatMap((versions) => [...versions.values()])
  }

  names(): ReadonlyMap<string, string | undefined> {
    const all = [...this.#models.keys(), ...this.#faults.keys()]
    return new Map(all.map((name) => [name, this.#faults.get(name)?.reason]))
  }

  async scan(): Promise<void> {
    const names = await modelNames(this.folder, this.#only)
    await this.#loadAll(names)
    for (const name of this.names().keys()) if (!names.includes(name)) await this.unload(name)
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
      await Promise.all(versions.map((model) => model.end()))
    })
  }

  get #only(): string {
    return this.#options.name ?? basename(this.folder)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work)
    this.#last = turn.catch(() => {})
    return turn
  }

  async #load(name: string): Promise<void> {
    if (this.#isStopping) throw this.#ending()
    const names = await modelNames(this.folder, this.#only)
    if (!names.includes(name))
      throw new NotFound(expected('the name of a model', 'the repository', name))
    const isOnly =
      names.length === 1 &&
      name === this.#only &&
      !(await modelNames(this.folder, '')).includes(name)
    const started: OnnxRunner[] = []
    const before = this.#models.get(name) ?? new Map<string, LoadedModel>()
    const after = new Map<string, LoadedModel>()
    let signature = ''
    try {
      const folder = await readModelFolder(isOnly ? this.folder : join(this.folder, name), name)
      if (folder.versions.length === 0)
        throw new BadInput(`expected a file model.onnx for ${shown(name)}, found none`)
      for (const file of folder.versions) signature += `${file.version} ${file.signature} `
      for (const file of folder.versions) {
        const same = before.get(file.version)
        const loaded =
          same?.signature === file.signature ? same : await this.#start(folder, file, started)
        after.set(file.version, loaded)
      }
    } catch (cause) {
      await Promise.all(started.map((runner) => runner.stop()))
      if (this.#isStopping) throw this.#ending()
      throw this.#failed(name, signature, cause as Error)
    }
    this.#faults.delete(name)
    this.#models.set(name, after)
    for (const { options } of after.values()) for (const follow of this.#followers) follow(options)
    if (started.length > 0) this.#tell({ kind: 'replaced', message: `the model ${name} is loaded` })
    for (const [version, old] of before) if (after.get(version) !== old) void old.end()
  }

  #ending(): Overloaded {
    return new Overloaded('the server stops', { limit: 'draining' })
  }

  /** Reports a fault once, not at every poll. */
  #failed(name: string, files: string, cause: Error): BadInput {
    // The error around this one names another thread each time.
    const signature = files + (cause.cause instanceof Error ? cause.cause : cause).message
    const isKnown = this.#faults.get(name)?.signature === signature
    const told =
      ServingError.is(cause) && tellsDetail(cause) ? cause.message : "the server's log says why"
    const reason = `the model could not be loaded: ${told}`
    this.#faults.set(name, { reason, signature })
    const message = `the model ${name} could not be loaded: ${cause.message}`
    if (!isKnown) this.#tell({ kind: 'load_failed', message, cause })
    return new BadInput(reason)
  }

  async #start(
    { name, maxBatchSize, maxWaitMs, config }: ModelFolder,
    file: ModelFile,
    started: OnnxRunner[],
  ): Promise<LoadedModel> {
    const { threads = 1, executionProviders, deviceIds } = this.#options
    const predict = maxBatchSize > 0 ? { batchable: true, maxBatchSize, maxWaitMs } : {}
    const id = `${name.replace(/[^\w.-]/g, '_')}_${file.version}_${++this.#count}`
    const runner = onnxRunner(/^\w/.test(id) ? id : `m${id}`, file.path, {
      threads,
      methods: { predict, run: {} },
      ...(executionProviders && { executionProviders }),
      ...(deviceIds && { deviceIds }),
    })
    runner.watch((event) => this.#tell(event))
    this.#starting.add(runner)
    try {
      await runner.start()
    } finally {
      this.#starting.delete(runner)
    }
    started.push(runner)
    const model = new LoadedModel(runner, name, file, maxBatchSize)
    requireConfigured(config, `config.pbtxt of ${name}`, await model.describe())
    return model
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
