/** Manifests for Kubernetes. @module */
import type { BuiltService } from './built-service.ts'
import { container, type DeployOptions, podSpec } from './container.ts'
import { type Manifest, metricsPath, type Names, namesOf, type Port, portsOf } from './manifest.ts'

/** Metric of each pod by which they are scaled: src/server/telemetry/server-metrics.ts. */
const metric = 'serving_requests_in_flight'

const http = { containerPort: 3000, name: 'http' }
const grpc = { containerPort: 3001, name: 'grpc' }

/**
 * @returns the manifests of a service: pods, their addresses, scaling, disruption, network and
 * metrics; with a store of jobs, also those of the pods that run them.
 */
export function kubernetesManifests(service: BuiltService, options: DeployOptions): Manifest[] {
  const names = namesOf(service, options.namespace)
  const { name, selector, manifest } = names
  const ports = portsOf(service, http, grpc)
  const { jobStore, autoscaler, inFlight, prometheus } = options
  // Prometheus' operator names the pods' Service in the label `service`.
  const query = `sum(${metric}{service="${name}"})`
  return [
    deployment(names, service, container(service, options, name, ports)),
    manifest('v1', 'Service', {
      selector,
      ports: ports.map((port) =>
        port === http
          ? { name: 'http', port: 80, targetPort: 'http', appProtocol: 'http' }
          : {
              name: 'grpc',
              port: port.containerPort,
              targetPort: 'grpc',
              appProtocol: 'kubernetes.io/h2c',
            },
      ),
    }),
    autoscaler === 'keda'
      ? manifest(
          'keda.sh/v1alpha1',
          'ScaledObject',
          scaledObject(name, options.replicas, prometheus, [[query, inFlight]]),
        )
      : manifest('autoscaling/v2', 'HorizontalPodAutoscaler', horizontalAutoscaler(name, options)),
    ...aroundPods(names, service, ports),
    ...(jobStore === undefined ? [] : jobManifests(service, options)),
  ]
}

/** Pods without APIs, which are scaled by the jobs that wait and run, and may end what they run. */
function jobManifests(service: BuiltService, options: DeployOptions): Manifest[] {
  const { prometheus, queued } = options
  const { timeoutMs, concurrency } = service.jobs ?? { timeoutMs: 0, concurrency: 1 }
  // A job that is handed back begins again, and one that is longer than the grace would never end.
  const drainTimeoutMs = Math.max(service.options.drainTimeoutMs ?? 0, timeoutMs)
  const worker = {
    ...service,
    name: `${service.name}-worker`,
    options: { ...service.options, drainTimeoutMs },
  }
  const front = namesOf(service, undefined).name
  // Every process tells the same depth, that of the store: the submitting ones, which are there without any worker.
  const query = (status: string) =>
    `max(sum by (pod) (serving_jobs{service="${front}",status="${status}",api!="$webhooks"}))`
  // KEDA follows the one that asks for more pods. Deliveries need no pod: the submitting processes make them.
  const queries = [
    [query('queued'), queued],
    [query('running'), concurrency * options.workers],
  ] as const
  const names = namesOf(worker, options.namespace)
  const { name, selector, manifest } = names
  return [
    deployment(names, worker, container(worker, options, name, [http], 'work')),
    // Only for Prometheus, which finds pods by it.
    manifest('v1', 'Service', {
      selector,
      clusterIP: 'None',
      ports: [{ name: 'http', port: 80, targetPort: 'http' }],
    }),
    manifest(
      'keda.sh/v1alpha1',
      'ScaledObject',
      scaledObject(name, options.jobWorkers, prometheus, queries),
    ),
    ...aroundPods(names, worker, [http]),
  ]
}

function deployment(
  { selector, labels, manifest }: Names,
  service: BuiltService,
  one: object,
): Manifest {
  const pods = { matchLabels: selector }
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
  }
  return manifest('apps/v1', 'Deployment', {
    selector: pods,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: {
      metadata: { labels },
      spec: {
        ...podSpec(service),
        topologySpreadConstraints: [{ ...spread, labelSelector: pods }],
        containers: [one],
      },
    },
  })
}

function aroundPods(
  { selector, manifest }: Names,
  service: BuiltService,
  ports: readonly Port[],
): Manifest[] {
  const pods = { matchLabels: selector }
  return [
    manifest('policy/v1', 'PodDisruptionBudget', { maxUnavailable: 1, selector: pods }),
    manifest('networking.k8s.io/v1', 'NetworkPolicy', {
      podSelector: pods,
      policyTypes: ['Ingress'],
      ingress: [{ ports: ports.map((port) => ({ port: port.containerPort, protocol: 'TCP' })) }],
    }),
    manifest('monitoring.coreos.com/v1', 'ServiceMonitor', {
      selector: pods,
      endpoints: [{ port: 'http', path: metricsPath(service), interval: '15s' }],
    }),
  ]
}

function horizontalAutoscaler(
  name: string,
  { inFlight, replicas: [minReplicas, maxReplicas] }: DeployOptions,
) {
  const target = { type: 'AverageValue', averageValue: String(inFlight) }
  return {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    minReplicas,
    maxReplicas,
    metrics: [{ type: 'Pods', pods: { metric: { name: metric }, target } }],
    behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
  }
}

function scaledObject(
  name: string,
  [minReplicaCount, maxReplicaCount]: readonly [number, number],
  serverAddress: string,
  queries: readonly (readonly [query: string, threshold: number])[],
) {
  return {
    scaleTargetRef: { name },
    minReplicaCount,
    maxReplicaCount,
    cooldownPeriod: 300,
    triggers: queries.map(([query, threshold]) => {
      return {
        type: 'prometheus',
        metadata: { serverAddress, query, threshold: String(threshold) },
      }
    }),
  }
}
