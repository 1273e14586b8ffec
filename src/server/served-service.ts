import type { Api } from '../api/api.ts'
import type { CaptureSettings } from '../api/capture-options.ts'
import type { CorsOptions } from '../api/cors.ts'
import type { Hooks, RequestHook } from '../api/hooks.ts'
import type { LiveApi } from '../api/live-api.ts'
import type { ModelOptions } from '../api/model-options.ts'
import type { Mount } from '../api/mount.ts'
import type { Protocol, ServedApis } from '../api/protocol.ts'
import type { Schedule } from '../api/schedule.ts'
import type { ServiceStart } from '../api/service-life.ts'
import type { JobsOptions } from '../jobs/jobs-options.ts'
import type { RunnerLife } from '../runner/runner.ts'

/** What a server needs of a Service. */
export interface ServedService extends ServedApis {
  /** The APIs of HTTP alone. */
  readonly routes: ReadonlyMap<string, Api>
  readonly lives: ReadonlyMap<string, LiveApi>
  readonly mounts: ReadonlyMap<string, Mount>
  readonly schedules: readonly Schedule[]
  readonly hooks: Hooks
  readonly auth: RequestHook | undefined
  readonly publicPaths: readonly string[]
  readonly cors: CorsOptions | undefined
  readonly openapi: { readonly include: readonly string[] }
  readonly jobs: JobsOptions
  readonly capture: CaptureSettings | undefined
  readonly mcp: boolean
  readonly runners: readonly RunnerLife[]
  readonly models: readonly ModelOptions[]
  readonly protocols: readonly Protocol[]
  /** Why it cannot answer now, though it has started; undefined if it can. */
  readonly unready: string | undefined
  /** Runs the startup hooks, then loads all runners. */
  start(options?: ServiceStart): Promise<void>
  /** Runs the shutdown hooks, then stops the runners. */
  stop(): Promise<void>
}
