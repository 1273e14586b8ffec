/** `serving containerize`: an image of what `serving build` wrote, by the program for images that is here. @module */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { InvalidArgument } from '../core/errors.ts'
import { imageName, readBuiltService } from './deploy/built-service.ts'
import { shownPath } from './folders.ts'

/** Programs that make images of a Dockerfile, the best known first; the OCI's format has no health checks. */
const verbs = {
  docker: ['build'],
  podman: ['build', '--format', 'docker'],
  buildah: ['bud', '--format', 'docker'],
}

/** Name of such a program. */
export type ImageProgram = keyof typeof verbs

/**
 * Makes the image and returns what to print.
 *
 * @throws InvalidArgument without a build, and if it fails.
 */
export function containerizeCommand(
  folder: string,
  more: readonly string[],
  { tag, with: program }: { readonly tag?: string; readonly with?: ImageProgram },
): string {
  const path = resolve(folder)
  const service = readBuiltService(path)
  const name = tag ?? imageName(service)
  const chosen = program ?? findProgram()
  const args = [...verbs[chosen], '--tag', name, ...more, path]
  const { status, error } = spawnSync(chosen, args, { stdio: ['ignore', 2, 2] })
  if (error !== undefined) throw new InvalidArgument(`${chosen} does not run: ${error.message}`)
  if (status !== 0) throw new InvalidArgument(`${chosen} ended with code ${status}`)
  const runner = chosen === 'docker' ? 'docker' : 'podman'
  return [
    `built ${name} of ${shownPath(path)} with ${chosen}`,
    `run it: ${runner} run --read-only --tmpfs /tmp --publish 3000:3000 ${name}`,
  ].join('\n')
}

/** Docker's client may be installed without its daemon, which `info` asks. */
function findProgram(): ImageProgram {
  const programs = Object.keys(verbs) as ImageProgram[]
  const found = programs.find((name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0)
  if (found !== undefined) return found
  const text = `expected one of ${programs.join(', ')} that works here; the Dockerfile is in the build`
  throw new InvalidArgument(text)
}
