/**
 * `serving serve`.
 * @module
 */
import { servePlan } from '../config/option-table.ts'
import { valuesOf } from '../config/settled-options.ts'
import { createLogger } from '../server/log.ts'
import { supervise } from '../workers/supervisor.ts'
import type { Settings } from './settings.ts'

/** Serves a service until a signal ends it, and returns the exit code. */
export async function serveCommand(service: string, { options }: Settings): Promise<number> {
  const plan = servePlan(valuesOf(options))
  return await supervise({
    workerFile: new URL('./worker.js', import.meta.url),
    workers: plan.workers,
    config: { file: service, serve: plan.serve },
    logger: createLogger(plan.serve.logLevel),
    print: (line) => process.stdout.write(`${line}\n`),
  })
}
