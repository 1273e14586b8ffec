/** The processes that serve the same models: the workers of a supervisor, or this process alone. @module */
import type { Group, Host } from '../../api/protocol.ts'
import { Overloaded, ServingError } from '../../core/errors.ts'
import type { Models } from './models.ts'
import { joinStatistics, type ModelCounts } from './statistics.ts'

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

/** How long the other processes are waited for. A model may take long to load. **Units**: milliseconds. */
const withinMs = { load: 120_000, unload: 120_000, statistics: 2_000 }

/** The models of one server, and the processes that serve the same ones. */
export class ModelGroup {
  readonly models: Models
  readonly #others: Group<GroupRequest, GroupAnswer>

  constructor(models: Models, host: Pick<Host, 'group'>) {
    this.models = models
    this.#others = host.group('oip', (request) => answer(models, request))
  }

  async #ask(request: GroupRequest): Promise<readonly GroupAnswer[]> {
    const { action, name } = request
    // A process that starts has loaded what its options say.
    const kept = action !== 'statistics' && { remember: name }
    const answers = await this.#others.ask(request, { withinMs: withinMs[action], ...kept })
    return answers.map((each) => (each === 'late' ? { error: 'it did not answer in time' } : each))
  }

  /**
   * Changes this process first.
   *
   * @throws those of {@link Models.load}; Overloaded if another process failed.
   */
  async change(action: 'load' | 'unload', name: string): Promise<void> {
    const request = { action, name, version: '' }
    const isKnown = this.models.index().some((each) => each.name === name)
    await act(this.models, request)
    // The supervisor remembers each name, even an unknown one.
    if (action === 'unload' && !isKnown) return
    const failed = (await this.#ask(request)).find(({ error }) => error !== undefined)
    if (failed !== undefined)
      throw new Overloaded(`another worker process could not ${action} it: ${failed.error}`)
  }

  /**
   * Adds up all processes.
   *
   * @throws NotFound.
   */
  async statistics(name = '', version = '') {
    const request = { action: 'statistics', name, version } as const
    const own = await act(this.models, request)
    const others = await this.#ask(request)
    const all = [...own, ...others.flatMap(({ counts = [] }) => counts)]
    return { model_stats: joinStatistics(all) }
  }
}

/** Answers another process. Never rejects. */
async function answer(models: Models, request: GroupRequest): Promise<GroupAnswer> {
  try {
    return { counts: await act(models, request) }
  } catch (error) {
    return { error: ServingError.is(error) ? error.message : 'the server failed' }
  }
}

async function act(
  models: Models,
  { action, name, version }: GroupRequest,
): Promise<readonly ModelCounts[]> {
  if (action === 'statistics') {
    const asked = name === '' ? models.all() : [models.find(name, version)]
    return asked.map((model) => ({ name: model.name, version: model.version, ...model.statistics }))
  }
  await models[action](name)
  return []
}
