/**
 * The models of a server by name and version.
 * @module
 */
import { BadInput, expected, NotFound } from '../errors.ts'
import type { Api } from '../service/api.ts'
import type { ModelOptions } from '../service/model-options.ts'
import { apiModels, type Model } from './model.ts'
import { RunnerModel } from './runner-model.ts'
import { shown } from './tensor.ts'

/** A model's entry in the index of the repository. */
export interface IndexEntry {
  readonly name: string
  readonly version: string
  readonly state: 'READY' | 'UNAVAILABLE'
  readonly reason?: string
}

/** The parts of a Service that models are made of. */
export interface ModelSource {
  readonly name: string
  readonly apis: ReadonlyMap<string, Api>
  readonly models: readonly ModelOptions[]
}

/** The models of a service: its APIs, and the runners that it lists. A listed one takes precedence over an API. */
export class Models {
  readonly #byName = new Map<string, Map<string, Model>>()

  constructor({ apis, models }: ModelSource) {
    for (const model of apiModels(apis.values())) this.#byName.set(model.name, new Map([[model.version, model]]))
    const listed = new Set(models.map(({ name, runner }) => name ?? runner.name))
    for (const name of listed) this.#byName.set(name, new Map())
    for (const options of models) {
      const model = new RunnerModel(options)
      this.#byName.get(model.name)?.set(model.version, model)
    }
  }

  /** All models, by name and version. */
  all(): Model[] {
    return [...this.#byName.values()].flatMap((versions) => [...versions.values()])
  }

  /** The versions of a model. **Errors**: NotFound. */
  versions(name: string): readonly string[] {
    return [...this.#versionsOf(name).keys()]
  }

  /**
   * Returns a model; of several versions the greatest, unless one is named. **Errors**: NotFound; BadInput for a
   * version that is no number.
   */
  find(name: string, version = ''): Model {
    const versions = this.#versionsOf(name)
    if (version === '') return [...versions.values()].reduce((a, b) => (Number(b.version) > Number(a.version) ? b : a))
    if (!/^\d+$/.test(version)) throw new BadInput(expected('a number', `the version of model ${shown(name)}`, version))
    const model = versions.get(version) ?? versions.get(String(Number(version)))
    if (model !== undefined) return model
    throw new NotFound(expected(`version ${[...versions.keys()].join(' or ')}`, `the model ${shown(name)}`, version))
  }

  /** The index of the repository. */
  index(): IndexEntry[] {
    return this.all().map(({ name, version, unready }) =>
      unready === undefined
        ? { name, version, state: 'READY' }
        : { name, version, state: 'UNAVAILABLE', reason: unready },
    )
  }

  /** Loads a model again. **Errors**: NotFound. Those of a service are loaded as long as it runs. */
  load(name: string): void {
    this.#versionsOf(name)
  }

  /** **Errors**: NotFound, and BadInput: the models of a service stay. */
  unload(name: string): void {
    this.#versionsOf(name)
    throw new BadInput(
      `expected a model of a repository to unload, received ${shown(name)}, which belongs to the service`,
    )
  }

  #versionsOf(name: string): ReadonlyMap<string, Model> {
    const versions = this.#byName.get(name)
    if (versions === undefined) throw new NotFound(expected('the name of a model', 'the request', name))
    return versions
  }
}
