/** Options that a reload keeps. @module */
import type { ServeOptions, ServeSettings } from '../../engine/options.ts'

/** The options of a supervisor's workers. */
export interface WorkerOptions {
  readonly workers: number
  readonly serve: ServeSettings
}

const keptOptions = ['port', 'grpcPort', 'metricsPort', 'host', 'engine'] as const

/** Logs which options have changed that a reload keeps: those that all workers share, and how many there are. */
export function warnOfKept(
  logger: NonNullable<ServeOptions['logger']>,
  initial: WorkerOptions,
  next: WorkerOptions,
): void {
  const pairs = keptOptions.map((name) => [name, initial.serve[name], next.serve[name]] as const)
  for (const [option, value, now] of [
    ...pairs,
    ['workers', initial.workers, next.workers] as const,
  ]) {
    if (value === now) continue
    const kept = `${option} stays ${value ?? 'as by default'} until a restart`
    logger.warn(
      { event: 'option_kept', option },
      `${kept}; the options say ${now ?? 'nothing'} now`,
    )
  }
}
