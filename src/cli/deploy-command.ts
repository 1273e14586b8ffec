/** `serving deploy --print`: manifests for a service that was built. @module */
import { resolve } from 'node:path'
import { InvalidArgument } from '../core/errors.ts'
import { yamlText } from './config/config-file.ts'
import { imageName, readBuiltService } from './deploy/built-service.ts'
import type { DeployOptions } from './deploy/container.ts'
import { kserveManifests } from './deploy/kserve.ts'
import { kubernetesManifests } from './deploy/kubernetes.ts'

const platforms = { kubernetes: kubernetesManifests, kserve: kserveManifests }

/** The options of `serving deploy`. */
export interface DeployFlags
  extends Omit<DeployOptions, 'image' | 'workers' | 'replicas' | 'jobWorkers'> {
  readonly print: keyof typeof platforms
  readonly image?: string
  readonly workers?: number
  readonly replicas: string
  readonly jobWorkers: string
}

/**
 * @returns the manifests as YAML.
 * @throws InvalidArgument without a build, and for wrong replicas.
 */
export async function deployCommand(folder: string, flags: DeployFlags): Promise<string> {
  const service = readBuiltService(resolve(folder))
  const { print, image = imageName(service), workers = service.options.workers ?? 1 } = flags
  const replicas = rangeOf('replicas', flags.replicas, 1)
  // KEDA starts the first worker when a job waits.
  const jobWorkers = rangeOf('job workers', flags.jobWorkers, 0)
  return await yamlText(
    platforms[print](service, { ...flags, image, workers, replicas, jobWorkers }),
  )
}

function rangeOf(name: string, range: string, least: number): readonly [number, number] {
  const [fewest, most = fewest] = range.split('-').map((text) => {
    if (/^\d+$/.test(text) && Number(text) >= least) return Number(text)
    throw new InvalidArgument(
      `${name} ${JSON.stringify(text)}: expected a whole number from ${least} up`,
    )
  })
  if (most < fewest) throw new InvalidArgument(`${name} ${range}: the most come second, as in 2-10`)
  return [fewest, most]
}
