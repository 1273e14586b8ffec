/** The processes that serve the same models: the workers of a supervisor, or this process alone. @module */
import { Overloaded, ServingError } from '../../core/errors.ts'
import type { Models } from './models.ts'
import { joinStatistics, type ModelCounts, type ModelStatistics } from './statistics.ts'

/** What one process asks of all. */
export interface GroupRequest {
  readonly action: 'load' | 'unload' | 'statistics'
  readonly name: string
  readonly version: string
}

/** The answer of one process. */
export interface GroupAnswer {
  readonly error?: string
  readonly counts?: readonly ModelCounts[]
}

/** Asks the other processes. */
export type AskOthers = (request: GroupRequest) => Promise<readonly GroupAnswer[]>

/** The models of one server, and the processes that serve the same ones. */
export class ModelGroup {
  readonly models: Models
  readonly #askOthers: AskOthers | undefined

  /** `askOthers`: undefined for a process alone. */
  constructor(models: Models, askOthers: AskOthers | undefined) {
    this.models = models
    this.#askOthers = askOthers
  }

  /** Answers another process. Never rejects. */
  async answer(request: GroupRequest): Promise<GroupAnswer> {
    try {
      return { counts: await act(this.models, request) }
    } catch (error) {
      return { error: ServingError.is(error) ? error.message : 'the server failed' }
    }
  }

  /** Changes this process first. **Errors**: those of {@link Models.load}; Overloaded if another process failed. */
  async change(action: 'load' | 'unload', name: string): Promise<void> {
    const request = { action, name, version: '' }
    const isKnown = this.models.index().some((each) => each.name === name)
    await act(this.models, request)
    // The supervisor remembers each name, even an unknown one.
    if (action === 'unload' && !isKnown) return
    const failed = (await this.#askOthers?.(request))?.find(({ error }) => error !== undefined)
    if (failed !== undefined) throw new Overloaded(`another worker process could not ${action} it: ${failed.error}`)
  }

  /** Adds up all processes. **Errors**: NotFound. */
  async statistics(name = '', version = ''): Promise<readonly ModelStatistics[]> {
    const request = { action: 'statistics', name, version } as const
    const own = await act(this.models, request)
    const others = (await this.#askOthers?.(request)) ?? []
    return joinStatistics([...own, ...others.flatMap(({ counts = [] }) => counts)])
  }
}

async function act(models: Models, { action, name, version }: GroupRequest): Promise<readonly ModelCounts[]> {
  if (action === 'statistics') {
    const asked = name === '' ? models.all() : [models.find(name, version)]
    return asked.map((model) => ({ name: model.name, version: model.version, ...model.statistics }))
  }
  await models[action](name)
  return []
}
