/**
 * The container of a service as Kubernetes and KServe have it: its command, probes, resources and rights.
 * @module
 */
import type { BuiltService } from './built-service.ts'

/** What a user decides about a deployment. */
export interface DeployOptions {
  readonly image: string
  readonly namespace?: string
  /** Worker processes of a pod. */
  readonly workers: number
  /** Fewest and most pods. */
  readonly replicas: readonly [number, number]
  /** Requests in flight in a pod, on average, above which there shall be another pod. */
  readonly inFlight: number
  readonly autoscaler: 'hpa' | 'keda'
  /** Address of Prometheus, which KEDA asks. */
  readonly prometheus: string
}

/** Port of HTTP in the container. */
export const httpPort = 3000
/** Port of gRPC in the container, where the service has one. */
export const grpcPort = 3001

/** Time from a pod's end until no proxy sends it new requests, in seconds; see `preStop` below. */
const propagation = 5

/** Returns a name of Kubernetes's: lower-case letters, digits and dashes, at most 63, a letter first. */
export function resourceName(name: string): string {
  const words = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const lettered = words.replace(/^[^a-z]+/, '').slice(0, 63)
  return lettered.replace(/-+$/, '') || 'service'
}

/** Returns a value that a label may have: a version of npm may have a plus. */
export const labelValue = (text: string): string => text.replace(/[^\w.-]/g, '-').slice(0, 63)

/** Seconds that a pod may take to end: for proxies, for the requests that run, for shutdown hooks and connections. */
export function graceSeconds({ options }: BuiltService): number {
  return propagation + Math.ceil((options.drainTimeoutMs ?? 30_000) / 1000) + 5
}

/**
 * Returns a core for each worker and for the thread of each of its runners, and memory: 256 MiB for each worker and
 * 128 MiB for each runner, with as much again before the pod is ended. No limit of CPU, which would only add latency.
 */
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

/** Returns the container; `ports` are those of the protocol that its platform wants, HTTP's first. */
export function container(
  service: BuiltService,
  { image, workers }: DeployOptions,
  name: string,
  ports: readonly { readonly containerPort: number; readonly name: string }[],
) {
  const [http, grpc] = ports
  const probe = (path: string) => ({ httpGet: { path: `${service.options.baseUrl ?? ''}${path}`, port: http.name } })
  const variables = {
    SERVING_PORT: http.containerPort,
    ...(grpc === undefined ? {} : { SERVING_GRPC_PORT: grpc.containerPort }),
    SERVING_WORKERS: workers,
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
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5, timeoutSeconds: 2, failureThreshold: 2 },
    livenessProbe: { ...probe('/livez'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    // Requests still come while proxies learn that the pod ends.
    lifecycle: { preStop: { sleep: { seconds: propagation } } },
    resources: resources(workers, service.runners.length),
    securityContext: containerSecurity,
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  }
}
