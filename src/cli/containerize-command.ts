/** `serving containerize`: an image of what `serving build` wrote, by the program for images that is here. @module */
import { spawnSync } from 'node:child_process'
import { relative, resolve } from 'node:path'
import { SetupError } from '../core/errors.ts'
import { imageName, readBuiltService } from './deploy/built-service.ts'

/** Programs that make images of a Dockerfile, the best known first. */
const imagePrograms = ['docker', 'podman', 'buildah'] as const

/** Name of such a program. */
export type ImageProgram = (typeof imagePrograms)[number]

/** The arguments of `serving containerize`. */
export interface ContainerizeOptions {
  readonly folder: string
  readonly tag: string | undefined
  readonly program: ImageProgram | undefined
  readonly more: readonly string[]
}

/** Makes the image and returns what to print. **Errors**: InvalidArgument without a build, SetupError if it fails. */
export function containerizeCommand({ folder, tag, program, more }: ContainerizeOptions): string {
  const path = resolve(folder)
  const shown = relative(process.cwd(), path) || '.'
  const service = readBuiltService(path)
  const name = tag ?? imageName(service)
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

/** Docker's client may be installed without its daemon, which `info` asks. */
function findProgram(): ImageProgram {
  const found = imagePrograms.find((name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0)
  if (found !== undefined) return found
  throw new SetupError(
    'invalid_argument',
    `expected one of ${imagePrograms.join(', ')} that works here; the Dockerfile is in the build`,
  )
}
