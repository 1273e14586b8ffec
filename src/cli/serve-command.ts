/** `serving serve`, `serving dev` and `serving models`. @module */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RepositoryOptions } from '../api/model-options.ts'
import { InvalidArgument } from '../core/errors.ts'
import { missingTool } from '../core/modules/optional.ts'
import { createLogger } from '../engine/log.ts'
import type { ServeSettings } from '../engine/options.ts'
import { type SupervisorOptions, supervise } from '../server/workers/supervisor.ts'
import { servePlan } from './config/option-table.ts'
import type { ServiceSettings, Settings } from './settings.ts'

/** Reads the settings: when a command starts, and at each reload. */
export type ReadSettings<S = ServiceSettings> = () => Promise<S>

/** Serves a service until a signal; returns the exit code. */
export async function serveCommand(read: ReadSettings): Promise<number> {
  const settings = await read()
  return await supervise(supervisorOptions(settings.service, settings, read))
}

/**
 * Serves a folder of models in the same way.
 *
 * @throws InvalidArgument if there is no such folder.
 */
export async function modelsCommand(
  path: string,
  models: RepositoryOptions,
  read: ReadSettings<Settings>,
): Promise<number> {
  const folder = resolve(path)
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder) throw new InvalidArgument(`there is no folder ${path}`)
  return await supervise(supervisorOptions(folder, await read(), read, models))
}

/** Serves a service while it is written, and returns the exit code. */
export async function devCommand(read: ReadSettings): Promise<number> {
  const { watchSources } = await import('./watch-sources.ts').catch((error: unknown) => {
    throw missingTool('chokidar', 'serving dev', error)
  })
  const settings = await read()
  const options = supervisorOptions(settings.service, settings, read)
  const one = settings.sourceOf('workers') === 'default' ? { workers: 1 } : {}
  const { config } = options
  // Nobody else on the network, and no foreign page, unless the option asks for it.
  const local = (serve: ServeSettings): ServeSettings =>
    serve.host === undefined ? { host: '127.0.0.1', allowedHosts: 'localhost', ...serve } : serve
  return await supervise({
    ...options,
    ...one,
    config: { ...config, serve: local(config.serve), isDevelopment: true },
    refresh: async () => {
      const { workers, serve } = await options.refresh()
      return { workers, serve: local(serve), ...one }
    },
    development: {
      watch: (reload) => watchSources(settings.service, (name) => reload(`${name} changed`)),
      onReload: (durationMs) => options.print(`reloaded in ${durationMs} ms`),
      onFailure: (message) => void process.stderr.write(`${message}\nwaiting for a change\n`),
    },
  })
}

function supervisorOptions(
  service: string,
  settings: Settings,
  read: ReadSettings<Settings>,
  models?: RepositoryOptions,
): SupervisorOptions & Required<Pick<SupervisorOptions, 'refresh'>> {
  const { workers, serve } = servePlan(settings.options)
  const { packages: pythonPackages = [] } = settings.file?.build?.python ?? {}
  return {
    workerFile: new URL('./worker.js', import.meta.url),
    workers,
    config: { file: service, serve, pythonPackages, ...(models !== undefined && { models }) },
    logger: createLogger(serve.logLevel),
    print: (line) => process.stdout.write(`${line}\n`),
    refresh: async () => servePlan((await read()).options),
  }
}
