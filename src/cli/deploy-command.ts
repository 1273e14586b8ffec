/** `serving deploy --print`: manifests for a service that was built. @module */
import { resolve } from 'node:path'
import { InvalidArgument } from '../core/errors.ts'
import { yamlText } from './config/config-file.ts'
import { imageName, readBuiltService } from './deploy/built-service.ts'
import type { DeployOptions } from './deploy/container.ts'
import { kserveManifests } from './deploy/kserve.ts'
import { kubernetesManifests } from './deploy/kubernetes.ts'

/** Platforms that manifests are written for. */
export const platforms = ['kubernetes', 'kserve'] as const

/** The options of `serving deploy`, as text. */
export interface DeployFlags {
  readonly print: (typeof platforms)[number]
  readonly image?: string
  readonly namespace?: string
  readonly workers?: string
  readonly replicas: string
  readonly inFlight: string
  readonly autoscaler: 'hpa' | 'keda'
  readonly prometheus: string
  readonly modelFormat?: string
  readonly storageUri?: string
}

/** Returns the manifests as YAML. **Errors**: InvalidArgument without a build, and for a number that is wrong. */
export async function deployCommand(folder: string, flags: DeployFlags): Promise<string> {
  const service = readBuiltService(resolve(folder))
  const { print, image = imageName(service), workers, replicas, inFlight } = flags
  const [fewest, most = fewest] = replicas.split('-').map((text) => wholeNumber('replicas', text))
  if (most < fewest) throw new InvalidArgument(`replicas ${replicas}: the most come second, as in 2-10`)
  const options: DeployOptions = {
    ...flags,
    image,
    workers: workers === undefined ? (service.options.workers ?? 1) : wholeNumber('workers', workers),
    replicas: [fewest, most],
    inFlight: wholeNumber('in-flight', inFlight),
  }
  const manifests = print === 'kserve' ? kserveManifests(service, options) : kubernetesManifests(service, options)
  return await yamlText(manifests)
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new InvalidArgument(`${name} ${JSON.stringify(text)}: expected a whole number above 0`)
}
