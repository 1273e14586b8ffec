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
export interface DeployFlags extends Omit<DeployOptions, 'image' | 'workers' | 'replicas'> {
  readonly print: keyof typeof platforms
  readonly image?: string
  readonly workers?: number
  readonly replicas: string
}

/** Returns the manifests as YAML. **Errors**: InvalidArgument without a build, and for wrong replicas. */
export async function deployCommand(folder: string, flags: DeployFlags): Promise<string> {
  const service = readBuiltService(resolve(folder))
  const { print, image = imageName(service), workers = service.options.workers ?? 1, replicas } = flags
  const [fewest, most = fewest] = replicas.split('-').map((text) => {
    if (/^[1-9]\d*$/.test(text)) return Number(text)
    throw new InvalidArgument(`replicas ${JSON.stringify(text)}: expected a whole number above 0`)
  })
  if (most < fewest) throw new InvalidArgument(`replicas ${replicas}: the most come second, as in 2-10`)
  return await yamlText(platforms[print](service, { ...flags, image, workers, replicas: [fewest, most] }))
}
