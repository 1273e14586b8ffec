/** `serving containerize`: an image of what `serving build` wrote, by the program for images that is here. @module */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { InvalidArgument, SetupError } from '../core/errors.ts'

/** Programs that make images of a Dockerfile, the best known first. */
const imagePrograms = ['docker', 'podman', 'buildah'] as const

/** Name of such a program. */
export type ImageProgram = (typeof imagePrograms)[number]

/** The arguments of `serving containerize`. */
export interface ContainerizeOptions {
  readonly folder: string
  readonly tag?: string
  readonly program?: ImageProgram
  readonly more: readonly string[]
}

/** Makes the image and returns what to print. **Errors**: InvalidArgument without a build, SetupError if it fails. */
export function containerizeCommand({ folder, tag, program, more }: ContainerizeOptions): string {
  const path = resolve(folder)
  const shown = relative(process.cwd(), path) || '.'
  if (!existsSync(join(path, 'manifest.json')) || !existsSync(join(path, 'Dockerfile'))) {
    throw new InvalidArgument(`${shown} has no build: run serving build first`)
  }
  const name = tag ?? imageName(path)
  const chosen = program ?? findProgram()
  // Podman and buildah make images of the OCI's format otherwise, which has no health checks.
  const verb = { docker: ['build'], podman: ['build', '--format', 'docker'], buildah: ['bud', '--format', 'docker'] }
  const { status, error } = spawnSync(chosen, [...verb[chosen], '--tag', name, ...more, path], {
    stdio: ['ignore', 2, 2],
  })
  if (error !== undefined) throw new SetupError('invalid_argument', `${chosen} does not run: ${error.message}`)
  if (status !== 0) throw new SetupError('invalid_argument', `${chosen} ended with code ${status}`)
  const runner = chosen === 'docker' ? 'docker' : 'podman'
  return [
    `built ${name} of ${shown} with ${chosen}`,
    `run it: ${runner} run --read-only --tmpfs /tmp --publish 3000:3000 ${name}`,
  ].join('\n')
}

/** Returns a name of the service and the project's version, of the characters that images may have. */
export function imageName(folder: string): string {
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const { service }: { service: { name: string } } = read('manifest.json')
  const { version }: { version: string } = read('package.json')
  const name = service.name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${name === '' ? 'service' : name}:${version.replace(/[^\w.-]/g, '-')}`
}

/** Docker's client may be installed without its daemon, which `info` asks. */
function findProgram(): ImageProgram {
  const found = imagePrograms.find((name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0)
  if (found !== undefined) return found
  throw new SetupError(
    'invalid_argument',
    `none of ${imagePrograms.join(', ')} works here; the Dockerfile is in the build`,
  )
}
