/** Options that a reload keeps. @module */
import type { ServeOptions, ServeSettings } from '../../engine/options.ts'

/** The options of a supervisor's workers. */
export interface WorkerOptions {
  readonly workers: number
  readonly serve: ServeSettings
}

const keptOptions = ['port', 'grpcPort', 'metricsPort', 'host', 'engine', 'workers'] as const

/** Logs which options have changed that a reload keeps: those that all workers share, and how many there are. */
export function warnOfKept(
  logger: NonNullable<ServeOptions['logger']>,
  initial: WorkerOptions,
  next: WorkerOptions,
): void {
  for (const option of keptOptions) {
    const [value, now] = [initial, next].map(
      ({ serve, workers }) => ({ ...serve, workers })[option],
    )
    if (value === now) continue
    const kept = `${option} stays ${value ?? 'as by default'} until a restart`
    logger.warn(
      { event: 'option_kept', option },
      `${kept}; the options say ${now ?? 'nothing'} now`,
    )
  }
}
