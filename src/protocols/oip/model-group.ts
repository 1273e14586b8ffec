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

let askOthers: AskOthers | undefined
let served: Models | undefined

/** Called by worker processes, before they serve. */
export function joinModelGroup(ask: AskOthers): void {
  askOthers = ask
}

/** Tells the models of this process's server. */
export function serveToGroup(models: Models): void {
  served = models
}

/** Never rejects. */
export async function answerGroup(request: GroupRequest): Promise<GroupAnswer> {
  if (served === undefined) return { error: 'this process does not serve yet' }
  try {
    return { counts: await act(served, request) }
  } catch (error) {
    return { error: ServingError.is(error) ? error.message : 'the server failed' }
  }
}

/** Changes this process first. **Errors**: those of {@link Models.load}; Overloaded if another process failed. */
export async function changeModel(models: Models, action: 'load' | 'unload', name: string): Promise<void> {
  const request = { action, name, version: '' }
  const isKnown = models.index().some((each) => each.name === name)
  await act(models, request)
  // The supervisor remembers each name, even an unknown one.
  if (action === 'unload' && !isKnown) return
  const failed = (await askOthers?.(request))?.find(({ error }) => error !== undefined)
  if (failed !== undefined) throw new Overloaded(`another worker process could not ${action} it: ${failed.error}`)
}

/** Adds up all processes. **Errors**: NotFound. */
export async function groupStatistics(models: Models, name = '', version = ''): Promise<readonly ModelStatistics[]> {
  const request = { action: 'statistics', name, version } as const
  const own = await act(models, request)
  const others = (await askOthers?.(request)) ?? []
  return joinStatistics([...own, ...others.flatMap(({ counts = [] }) => counts)])
}

async function act(models: Models, { action, name, version }: GroupRequest): Promise<readonly ModelCounts[]> {
  if (action === 'statistics') {
    const asked = name === '' ? models.all() : [models.find(name, version)]
    return asked.map((model) => ({ name: model.name, version: model.version, ...model.statistics }))
  }
  await models[action](name)
  return []
}
