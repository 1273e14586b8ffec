/** The options of a service. @module */

import { type CaptureOptions, parseCapture } from './api/capture-options.ts'
import { type CorsOptions, corsBy } from './api/cors.ts'
import type { RequestHook } from './api/hooks.ts'
import { type ModelOptions, parseModels, type RepositoryOptions } from './api/model-options.ts'
import type { Protocol } from './api/protocol.ts'
import { expected, InvalidArgument } from './core/errors.ts'
import {
  checkedLater,
  fromCode,
  listOf,
  type OptionsOf,
  onOrOff,
  readBy,
  readOptions,
  text,
} from './core/option.ts'
import { checkOneOf, checkOptions, checkThat, isRecord } from './core/options.ts'
import type { JobsOptions } from './jobs/jobs-options.ts'
import { modelRepository } from './protocols/oip/repository.ts'
import type { RunnerLife } from './runner/runner.ts'

const serverPaths = ['health', 'metrics', 'connect', 'oip'] as const

/** Paths of the server by what they are for: `oip` is the Open Inference Protocol. */
export type ServerPaths = (typeof serverPaths)[number]

/** Paths of the server that the OpenAPI document may have, too. */
export interface DocumentOptions {
  readonly include: readonly ServerPaths[]
}

const serviceOptions = {
  /** What the service does, for the documentation page. */
  doc: fromCode<string>('a text', (value) => typeof value === 'string'),
  /** Version in its documents. Default: that of the package.json above its file. */
  version: text('<version>', 'a version'),
  /** Loaded before the service is ready, released at its end. */
  runners: checkedLater<readonly RunnerLife[]>().or([]),
  /** Runners that clients may call by the Open Inference Protocol, beside APIs of tensors; loaded as `runners`. */
  models: listOf<RunnerLife | ModelOptions>('a list of Runners', isRecord).or([]),
  /** A folder of ONNX models for the Open Inference Protocol, served as by {@link modelRepository}. */
  repository: checkedLater<string | (RepositoryOptions & { readonly folder: string })>(),
  /**
   * Which pages of other origins may call the service.
   *
   * @default no other origins
   */
  cors: readBy((_, cors: CorsOptions) => {
    corsBy(cors)
    return cors
  }),
  /**
   * Who may call, such as `apiKey` of `serving/auth`; APIs may have their own.
   *
   * @default everybody
   */
  auth: fromCode<RequestHook>('a hook', (value) => typeof value === 'function'),
  /** Paths without auth: `/metrics`, or `/app/*` with all below; `/*` is everything. Health never needs auth. */
  publicPaths: listOf<string>(
    'a list of paths',
    (path) => typeof path === 'string' && path.startsWith('/'),
  ).or([]),
  /** Where the jobs of asynchronous APIs are kept. */
  jobs: readBy((place, jobs: JobsOptions) =>
    checkOptions(place, jobs, ['store', 'blobs', 'webhooks']),
  ).or({}),
  /**
   * Records inputs and outputs of all APIs as files of Parquet. Needs the package `parquet-wasm`.
   *
   * @default nothing is recorded
   */
  capture: readBy((place, given: CaptureOptions) => parseCapture(given, place)),
  /** Protocols beside those that are built in, such as `openai` of `serving/openai`. */
  protocols: listOf<Protocol>(
    'a list of protocols, such as openai(...) returns',
    (each) => typeof (each as Protocol | undefined)?.attach === 'function',
  ).or([]),
  /**
   * Serves APIs as tools for agents at `/mcp`.
   *
   * @default false
   */
  mcp: onOrOff.or(false),
  /**
   * What the OpenAPI document has beside the service's own paths.
   *
   * @default nothing
   */
  openapi: readBy(parseDocument).or({ include: [] }),
}

/** Options of a {@link Service}. */
export interface ServiceOptions extends OptionsOf<typeof serviceOptions> {}

function parseDocument(place: string, given: DocumentOptions): DocumentOptions {
  const { include } = checkOptions(place, given, ['include'])
  for (const each of include ?? []) checkOneOf('openapi.include of Service', each, serverPaths)
  return { include: include ?? [] }
}

/**
 * @returns the options of a service, with their defaults.
 * @throws InvalidArgument for a wrong name of the service, a wrong option, or an unknown one.
 */
export function parseServiceOptions(name: string, options: ServiceOptions) {
  if (typeof name !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) {
    throw new InvalidArgument(expected('letters, digits, _ . and -', 'the name of a Service', name))
  }
  // Elsewhere null means that there is no such option: here it would let everybody in.
  checkThat(options?.auth !== null, 'a hook', 'auth of Service', null)
  const settings = readOptions('Service', options, serviceOptions)
  const { repository, protocols } = settings
  const folder = repository === undefined ? [] : [repositoryOf(repository)]
  const models = parseModels([...settings.models, ...folder], name)
  return { ...settings, models, runners: runnersOf(name, settings.runners, models, protocols) }
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

/** @throws InvalidArgument. */
function requireRunners(runners: readonly RunnerLife[], service: string): RunnerLife[] {
  const place = `runners of the service ${service}`
  checkThat(Array.isArray(runners), 'a list of Runners', place, runners)
  for (const [i, runner] of runners.entries()) {
    // By its members: a file may have loaded another copy of the package.
    const ok =
      typeof runner?.name === 'string' &&
      typeof runner.start === 'function' &&
      typeof runner.stop === 'function'
    checkThat(ok, 'a Runner', place, runner)
    if (runners.findIndex((other) => other.name === runner.name) !== i) {
      throw new InvalidArgument(`the service ${service} has two runners named ${runner.name}`)
    }
  }
  return [...runners]
}
