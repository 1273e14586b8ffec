/** The models of a server by name and version. @module */

import type { Api } from '../../api/api.ts'
import type { ModelOptions } from '../../api/model-options.ts'
import { BadInput, expected, NotFound } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promise.ts'
import { apiModels, type Model } from './model.ts'
import { ModelRepository } from './repository.ts'
import { RunnerModel } from './runner-model.ts'
import { shown } from './tensor.ts'

/** A service's APIs and listed runners by name; a runner takes precedence. */
export class Models {
  readonly #byName = new Map<string, Map<string, Model>>()
  readonly #repositories: ModelRepository[] = []

  constructor({
    apis,
    models,
  }: { readonly apis: ReadonlyMap<string, Api>; readonly models: readonly ModelOptions[] }) {
    for (const model of apiModels(apis.values()))
      this.#byName.set(model.name, new Map([[model.version, model]]))
    const own = models.filter(({ runner }) => !(runner instanceof ModelRepository))
    for (const { runner } of models)
      if (runner instanceof ModelRepository) this.#repositories.push(runner)
    for (const { name, runner } of own) this.#byName.set(name ?? runner.name, new Map())
    for (const options of own) {
      const model = new RunnerModel(options)
      this.#byName.get(model.name)?.set(model.version, model)
    }
  }

  all(): Model[] {
    const own = [...this.#byName.values()].flatMap((versions) => [...versions.values()])
    return [...own, ...this.#repositories.flatMap((repository) => repository.all())]
  }

  /** Names of the service's own models, which stay. */
  get ownNames(): readonly string[] {
    return [...this.#byName.keys()]
  }

  versions(name: string): readonly string[] {
    return [...this.#versionsOf(name).keys()]
  }

  /**
   * @default the greatest version
   * @throws NotFound; BadInput unless the version is a number.
   */
  find(name = '', version = ''): Model {
    const versions = this.#versionsOf(name)
    if (version === '') {
      const all = [...versions.values()]
      return all.reduce((a, b) => (Number(b.version) > Number(a.version) ? b : a))
    }
    if (!/^\d+$/.test(version))
      throw new BadInput(expected('a number', `the version of model ${shown(name)}`, version))
    const model = versions.get(version) ?? versions.get(String(Number(version)))
    if (model !== undefined) return model
    throw new NotFound(
      expected(`version ${[...versions.keys()].join(' or ')}`, `the model ${shown(name)}`, version),
    )
  }

  /** The entries of all models, and of those that could not be loaded; or of those that are ready. */
  index(isReadyOnly = false) {
    const failed = this.#repositories.flatMap((repository) => [...repository.names()])
    const entries = [
      ...this.all().map(({ name, version, unready }) => indexEntry(name, version, unready)),
      ...failed
        .filter(([, reason]) => reason !== undefined)
        .map(([name, reason]) => indexEntry(name, '', reason)),
    ]
    return entries.filter(({ state }) => !isReadyOnly || state === 'READY')
  }

  load(name: string): MaybePromise<void> {
    if (this.#byName.has(name)) return undefined
    return this.#repositoryFor(name).load(name)
  }

  /** @throws NotFound, BadInput for models of the service, which stay. */
  unload(name: string): MaybePromise<void> {
    if (this.#byName.has(name)) {
      throw new BadInput(
        `expected a model of a repository to unload, received ${shown(name)}, which belongs to the service`,
      )
    }
    return this.#repositoryFor(name).unload(name)
  }

  #repositoryFor(name: string): ModelRepository {
    const repository =
      this.#repositories.find((each) => each.names().has(name)) ?? this.#repositories[0]
    if (repository === undefined) throw unknownModel(name)
    if (repository.control === 'explicit') return repository
    const message =
      "expected a repository with control 'explicit' for load and unload, received one without"
    throw new BadInput(message, {}, { status: 403, grpc: 'PERMISSION_DENIED' })
  }

  #versionsOf(name: string): ReadonlyMap<string, Model> {
    const versions =
      this.#byName.get(name) ?? this.#repositories.find((each) => each.get(name))?.get(name)
    if (versions === undefined) throw unknownModel(name)
    return versions
  }
}

function indexEntry(name: string, version: string, reason: string | undefined) {
  return { name, version, state: reason === undefined ? 'READY' : 'UNAVAILABLE', reason }
}

function unknownModel(name: string): NotFound {
  return new NotFound(expected('the name of a model', 'the request', name))
}
