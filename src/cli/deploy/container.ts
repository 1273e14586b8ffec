/** The container of a service as Kubernetes and KServe have it: its command, probes, resources and rights. @module */
import type { JobRole } from '../../engine/options.ts'
import type { OptionsInFile } from '../config/option-table.ts'
import type { BuiltService } from './built-service.ts'
import type { Port } from './manifest.ts'

/** What a user decides about a deployment. */
export interface DeployOptions {
  readonly image: string
  readonly namespace?: string
  readonly workers: number
  readonly replicas: readonly [number, number]
  /** Requests in flight in a pod, on average, above which there shall be another pod. */
  readonly inFlight: number
  readonly autoscaler: 'hpa' | 'keda'
  readonly prometheus: string
  /** Where its jobs are kept: pods that run them are a Deployment of their own then. */
  readonly jobStore?: string
  readonly jobWorkers: readonly [number, number]
  /** Jobs that wait for each pod that runs them, above which there shall be another one. */
  readonly queued: number
  /** For a service with a remote model on KServe: the model's format, and where its files are. */
  readonly modelFormat?: string
  readonly storageUri?: string
}

/** Time from a pod's end until no proxy sends it new requests. **Units**: milliseconds. */
const propagationMs = 5000
/** Default of `drainTimeoutMs`. **Units**: milliseconds. */
const requestsMs = 30_000

/** Seconds that a pod may take to end: for proxies, for the requests that run, for shutdown hooks and connections. */
function graceSeconds({
  drainDelayMs = propagationMs,
  drainTimeoutMs = requestsMs,
}: OptionsInFile): number {
  return Math.ceil((drainDelayMs + drainTimeoutMs) / 1000) + 5
}

/** A core for each worker and each thread of a Runner. No limit of CPU, which would only add latency. */
export function resources(workers: number, runners: number) {
  const memory = workers * (256 + 128 * runners)
  return {
    requests: { cpu: String(workers * (1 + runners)), memory: `${memory}Mi` },
    limits: { memory: `${memory * 2}Mi` },
  }
}

/** Rights of a pod under the restricted Pod Security Standard. */
export const podSecurity = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  fsGroup: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
}

const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

/** Uploads and Parquet files may need disk; the root file system is read-only. */
export const volumes = [{ name: 'tmp', emptyDir: {} }]

/** @returns what a pod has beside its containers. */
export function podSpec({ options }: BuiltService) {
  return {
    terminationGracePeriodSeconds: graceSeconds(options),
    automountServiceAccountToken: false,
    securityContext: podSecurity,
    volumes,
  }
}

/**
 * @returns the container; `ports` are those of the protocol that its platform calls, HTTP's first.
 */
export function container(
  service: BuiltService,
  { image, workers, jobStore }: DeployOptions,
  name: string,
  ports: readonly Port[],
  jobRole: JobRole = 'submit',
) {
  const [http, grpc] = ports
  const probe = (path: string) => ({
    httpGet: { path: `${service.options.baseUrl ?? ''}${path}`, port: http.name },
  })
  const variables = {
    SERVING_PORT: http.containerPort,
    ...(grpc !== undefined && { SERVING_GRPC_PORT: grpc.containerPort }),
    SERVING_WORKERS: workers,
    ...(jobStore !== undefined && { SERVING_JOB_STORE: jobStore, SERVING_JOB_ROLE: jobRole }),
    ...(jobRole === 'work' && {
      SERVING_DRAIN_TIMEOUT_MS: service.options.drainTimeoutMs ?? requestsMs,
    }),
    ...(service.options.drainDelayMs === undefined && { SERVING_DRAIN_DELAY_MS: propagationMs }),
    // A core or two a worker: libuv's default of four threads reads large bodies and pictures.
    UV_THREADPOOL_SIZE: 4,
  }
  return {
    name,
    image,
    ports: ports.map((port) => ({ ...port, protocol: 'TCP' })),
    env: Object.entries(variables).map(([key, value]) => ({ name: key, value: String(value) })),
    // Models are loaded and warmed up before; liveness never depends on them or on load.
    startupProbe: { ...probe('/readyz'), periodSeconds: 2, failureThreshold: 60 },
    readinessProbe: {
      ...probe('/readyz'),
      periodSeconds: 5,
      timeoutSeconds: 2,
      failureThreshold: 2,
    },
    livenessProbe: {
      ...probe('/livez'),
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    resources: resources(workers, service.runners.length),
    securityContext: containerSecurity,
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  }
}
