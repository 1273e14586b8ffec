/** The options of a service. @module */

import { type CaptureOptions, parseCapture } from './api/capture-options.ts'
import { type CorsOptions, corsBy } from './api/cors.ts'
import { parseAuth, type RequestHook } from './api/hooks.ts'
import { type ModelOptions, parseModels, type RepositoryOptions } from './api/model-options.ts'
import type { Protocol } from './api/protocol.ts'
import { parsePaths, parseVersion, requireRunners } from './api/service-options.ts'
import { expected, InvalidArgument } from './core/errors.ts'
import { checkOneOf, checkOptions, checkThat } from './core/options.ts'
import type { JobsOptions } from './jobs/jobs-options.ts'
import { modelRepository } from './protocols/oip/repository.ts'
import type { RunnerLife } from './runner/runner.ts'

const serverPaths = ['health', 'metrics', 'connect', 'oip'] as const

/** Paths of the server by what they are for: `oip` is the Open Inference Protocol. */
export type ServerPaths = (typeof serverPaths)[number]

/** Options of a {@link Service}. */
export interface ServiceOptions {
  /** What the service does, for the documentation page. */
  readonly doc?: string
  /** Version in its documents. Default: that of the package.json above its file. */
  readonly version?: string
  /** Loaded before the service is ready, released at its end. */
  readonly runners?: readonly RunnerLife[]
  /** Runners that clients may call by the Open Inference Protocol, beside APIs of tensors; loaded as `runners`. */
  readonly models?: readonly (RunnerLife | ModelOptions)[]
  /** A folder of ONNX models for the Open Inference Protocol, served as by {@link modelRepository}. */
  readonly repository?: string | (RepositoryOptions & { readonly folder: string })
  /**
   * Which pages of other origins may call the service.
   *
   * @default no other origins
   */
  readonly cors?: CorsOptions
  /**
   * Who may call, such as `apiKey` of `serving/auth`; APIs may have their own.
   *
   * @default everybody
   */
  readonly auth?: RequestHook
  /** Paths without auth: `/metrics`, or `/app/*` with all below; `/*` is everything. Health never needs auth. */
  readonly publicPaths?: readonly string[]
  /** Where the jobs of asynchronous APIs are kept. */
  readonly jobs?: JobsOptions
  /**
   * Records inputs and outputs of all APIs as files of Parquet. Needs the package `parquet-wasm`.
   *
   * @default nothing is recorded
   */
  readonly capture?: CaptureOptions
  /** Protocols beside those that are built in, such as `openai` of `serving/openai`. */
  readonly protocols?: readonly Protocol[]
  /**
   * Serves APIs as tools for agents at `/mcp`.
   *
   * @default false
   */
  readonly mcp?: boolean
  /**
   * What the OpenAPI document has beside the service's own paths.
   *
   * @default nothing
   */
  readonly openapi?: DocumentOptions
}

/** Paths of the server that the OpenAPI document may have, too. */
export interface DocumentOptions {
  readonly include: readonly ServerPaths[]
}

const optionNames = [
  'doc',
  'version',
  'runners',
  'models',
  'repository',
  'cors',
  'auth',
  'publicPaths',
  'jobs',
  'capture',
  'protocols',
  'openapi',
  'mcp',
]

/**
 * @returns the options of a service, with their defaults.
 * @throws InvalidArgument for a wrong name of the service, a wrong option, or an unknown one.
 */
export function parseServiceOptions(name: string, options: ServiceOptions) {
  if (typeof name !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) {
    throw new InvalidArgument(expected('letters, digits, _ . and -', 'the name of a Service', name))
  }
  checkOptions('Service', options, optionNames)
  const { doc, cors, repository, protocols = [], mcp = false, publicPaths = [] } = options
  if (cors !== undefined) corsBy(cors)
  const { include = [] } = checkOptions('openapi of Service', options.openapi ?? { include: [] }, [
    'include',
  ])
  for (const each of include) checkOneOf('openapi.include of Service', each, serverPaths)
  const given = parseModels(options.models ?? [], name)
  const models =
    repository === undefined ? given : parseModels([...given, repositoryOf(repository)], name)
  return {
    doc,
    version: parseVersion(options.version),
    cors,
    auth: parseAuth(options.auth, 'auth of Service') || undefined,
    publicPaths: parsePaths(publicPaths),
    jobs: checkOptions('jobs of Service', options.jobs ?? {}, ['store', 'blobs', 'webhooks']),
    capture: parseCapture(options.capture, 'capture of Service'),
    openapi: { include },
    mcp: checkOneOf('mcp of Service', mcp, [true, false]),
    models,
    protocols: requireProtocols(protocols),
    runners: runnersOf(name, options.runners ?? [], models, protocols),
  }
}

function requireProtocols(protocols: readonly Protocol[]): readonly Protocol[] {
  const areProtocols =
    Array.isArray(protocols) && protocols.every((each) => typeof each?.attach === 'function')
  checkThat(
    areProtocols,
    'a list of protocols, such as openai(...) returns',
    'protocols of Service',
    protocols,
  )
  return protocols
}

/** @returns all that the service loads: its own runners, then those of models and protocols. */
function runnersOf(
  name: string,
  given: readonly RunnerLife[],
  models: readonly ModelOptions[],
  protocols: readonly Protocol[],
): readonly RunnerLife[] {
  const runners = requireRunners(given, name)
  const served = [
    ...models.map(({ runner }) => runner),
    ...protocols.flatMap(({ runners = [] }) => runners),
  ]
  const others = new Set(served.filter((runner) => !runners.includes(runner)))
  return Object.freeze(requireRunners([...runners, ...others], name))
}

function repositoryOf(given: NonNullable<ServiceOptions['repository']>): RunnerLife {
  if (typeof given === 'string') return modelRepository(given)
  const { folder, ...options } = given
  return modelRepository(folder, options)
}
