/** Reads what `serving build` wrote, for manifests. @module */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InvalidArgument } from '../../core/errors.ts'
import type { BuildManifest } from '../build/plan-build.ts'
import type { OptionValues } from '../config/option-table.ts'

/** A built service as manifests need it. */
export interface BuiltService {
  readonly name: string
  readonly version: string
  readonly runners: readonly string[]
  readonly remoteRunners: readonly string[]
  readonly options: OptionValues
}

/** Returns the service that was built into a folder. **Errors**: InvalidArgument for a folder without a build. */
export function readBuiltService(folder: string): BuiltService {
  if (!existsSync(join(folder, 'manifest.json'))) {
    throw new InvalidArgument(`${folder} has no build: run serving build first`)
  }
  const read = <T>(file: string): T => JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const { service, runners, remoteRunners } = read<BuildManifest>('manifest.json')
  const { version } = read<{ version: string }>('package.json')
  const { service: _, ...options } = read<OptionValues & { service: string }>('serving.config.json')
  const own = runners.filter((name) => !remoteRunners.includes(name))
  return { name: service.name, version, runners: own, remoteRunners, options }
}
