/** `serving/config`: types for `serving.config.ts`. Loads nothing else of the package. @module serving/config */
import type { BuildOptions } from './build-options.ts'
import type { OptionsInFile } from './option-table.ts'

export type {
  BuildOptions,
  CondaOptions,
  DockerOptions,
  EnvironmentVariable,
  PythonOptions,
} from './build-options.ts'
export type { OptionsInFile } from './option-table.ts'

/** What a `serving.config` file may say: every option of `serving serve`, the service, and what to build. */
export interface ServingConfig extends OptionsInFile {
  readonly $schema?: string
  /** File of the service, relative to the configuration file: what commands without FILE take. */
  readonly service?: string
  readonly build?: BuildOptions
}

/**
 * @returns its argument: it gives a configuration file its types.
 * @example
 * `export default defineConfig({ service: 'service.ts', port: 8080, workers: 2 })`
 */
export function defineConfig(config: ServingConfig): ServingConfig {
  return config
}
