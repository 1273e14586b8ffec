/** What a build says of its service. @module */

import { capturedApis, capturePackages } from '../../api/capture-options.ts'
import { serviceMetadata } from '../../api/service-metadata.ts'
import { storePackages } from '../../jobs/open-store.ts'
import { modelRunners } from '../../runner/runner.ts'
import { describeServer, servicePaths } from '../../server/describe-server.ts'
import type { Service } from '../../service.ts'

/** The description of a service, by the process that has loaded it. */
export type DescribedService = Awaited<ReturnType<typeof describeService>>

/** Describes a service that has been loaded. */
export async function describeService(service: Service, packages: readonly string[]) {
  const runners = modelRunners(service.runners)
  return {
    metadata: serviceMetadata(service),
    routes: [...service.apis.values()].map(({ route }) => route),
    // What requests name, as `POST /classify`: a build must have those of its source.
    endpoints: await endpointsOf(service),
    runners: runners.map(({ name }) => name),
    remoteRunners: runners.filter(({ isRemote = false }) => isRemote).map(({ name }) => name),
    python: runners.flatMap(({ name, pythonSettings }) =>
      pythonSettings === undefined ? [] : { name, ...pythonSettings },
    ),
    jobs: jobsOf(service),
    openapi: await describeServer(service, ''),
    packages: [
      ...packages,
      ...storePackages(service.jobs),
      ...capturePackages(capturedApis(service)),
    ],
  }
}

/**
 * @returns the longest attempt at a job, and how many a process runs at once; undefined without
 * asynchronous APIs.
 */
function jobsOf({ apis }: Service) {
  const settings = [...apis.values()].flatMap(({ async }) => async ?? [])
  if (settings.length === 0) return undefined
  return {
    timeoutMs: Math.max(...settings.map(({ timeout }) => timeout)),
    concurrency: settings.reduce((sum, { concurrency }) => sum + concurrency, 0),
  }
}

async function endpointsOf(service: Service): Promise<string[]> {
  const { apis, routes, models } = service
  return [
    ...(await servicePaths(service, '')),
    ...[...apis.values(), ...routes.values()]
      .filter(({ name, route }) => name !== route)
      .map(({ name }) => `the API ${name}`),
    ...models.map(({ name }) => `the model ${name}`),
  ]
}
