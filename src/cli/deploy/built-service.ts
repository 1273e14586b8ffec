/** Reads what `serving build` wrote, for images and manifests. @module */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { InvalidArgument } from '../../core/errors.ts'
import type { BuildPlan } from '../build/plan-build.ts'
import type { OptionsInFile } from '../config/option-table.ts'
import { readJson, shownPath } from '../folders.ts'

/** A built service as images and manifests need it. */
export type BuiltService = ReturnType<typeof readBuiltService>

/**
 * @returns the service that was built into a folder.
 * @throws InvalidArgument for a folder without a build.
 */
export function readBuiltService(folder: string) {
  if (!['manifest.json', 'Dockerfile'].every((file) => existsSync(join(folder, file)))) {
    throw new InvalidArgument(`${shownPath(folder)} has no build: run serving build first`)
  }
  const read = <T>(file: string): T => readJson(join(folder, file))
  const { service, runners, remoteRunners, jobs } = read<BuildPlan['manifest']>('manifest.json')
  const { version } = read<{ version: string }>('package.json')
  const options = read<OptionsInFile>('serving.config.json')
  const own = runners.filter((name) => !remoteRunners.includes(name))
  return { name: service.name, version, runners: own, remoteRunners, jobs, options }
}

/**
 * @returns the name of the image, of the characters that images may have: the service's and the
 * project's version.
 */
export function imageName({ name, version }: BuiltService): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${words || 'service'}:${version.replace(/[^\w.-]/g, '-')}`
}
