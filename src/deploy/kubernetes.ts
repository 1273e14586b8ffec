/**
 * Manifests for Kubernetes.
 * @module
 */
import type { BuiltService } from './built-service.ts'
import {
  container,
  type DeployOptions,
  graceSeconds,
  grpcPort,
  httpPort,
  labelValue,
  podSecurity,
  resourceName,
  volumes,
} from './container.ts'

/** A manifest of any kind. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly spec: Readonly<Record<string, unknown>>
}

/** Metric of each pod by which they are scaled: src/server/server-metrics.ts. */
const metric = 'serving_requests_in_flight'

/** Returns the manifests of a service: pods, their addresses, scaling, disruption, network and metrics. */
export function kubernetesManifests(service: BuiltService, options: DeployOptions): Manifest[] {
  const name = resourceName(service.name)
  const { namespace, replicas, autoscaler } = options
  const selector = { 'app.kubernetes.io/name': name }
  const labels = {
    ...selector,
    'app.kubernetes.io/version': labelValue(service.version),
    'app.kubernetes.io/component': 'model-server',
  }
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }), labels }
  const hasGrpc = service.options.grpcPort !== undefined
  const ports = [
    { containerPort: httpPort, name: 'http' },
    ...(hasGrpc ? [{ containerPort: grpcPort, name: 'grpc' }] : []),
  ]
  const [fewest, most] = replicas
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name }
  const deployment: Manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      // The number of replicas is the autoscaler's.
      selector: { matchLabels: selector },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: graceSeconds(service),
          automountServiceAccountToken: false,
          securityContext: podSecurity,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: selector },
            },
          ],
          containers: [container(service, options, name, ports)],
          volumes,
        },
      },
    },
  }
  const address: Manifest = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      selector,
      ports: [
        { name: 'http', port: 80, targetPort: 'http', appProtocol: 'http' },
        ...(hasGrpc ? [{ name: 'grpc', port: grpcPort, targetPort: 'grpc', appProtocol: 'kubernetes.io/h2c' }] : []),
      ],
    },
  }
  const disruption: Manifest = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
  }
  const network: Manifest = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata,
    spec: {
      podSelector: { matchLabels: selector },
      policyTypes: ['Ingress'],
      ingress: [{ ports: ports.map((port) => ({ port: port.containerPort, protocol: 'TCP' })) }],
    },
  }
  const monitor: Manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata,
    spec: {
      selector: { matchLabels: selector },
      endpoints: [{ port: 'http', path: `${service.options.baseUrl ?? ''}/metrics`, interval: '15s' }],
    },
  }
  const scaler = autoscaler === 'keda' ? scaledObject : horizontalAutoscaler
  const { spec, ...kind } = scaler(name, target, [fewest, most], options)
  return [deployment, address, { ...kind, metadata, spec }, disruption, network, monitor]
}

type Target = Readonly<Record<'apiVersion' | 'kind' | 'name', string>>

/** By Kubernetes itself; prometheus-adapter gives it the metric of the pods. */
function horizontalAutoscaler(
  _name: string,
  scaleTargetRef: Target,
  [minReplicas, maxReplicas]: readonly [number, number],
  { inFlight }: DeployOptions,
): Omit<Manifest, 'metadata'> {
  const value = { type: 'AverageValue', averageValue: String(inFlight) }
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    spec: {
      scaleTargetRef,
      minReplicas,
      maxReplicas,
      metrics: [{ type: 'Pods', pods: { metric: { name: metric }, target: value } }],
      behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
    },
  }
}

/** By KEDA, which asks Prometheus. */
function scaledObject(
  name: string,
  { name: target }: Target,
  [minReplicaCount, maxReplicaCount]: readonly [number, number],
  { inFlight, prometheus }: DeployOptions,
): Omit<Manifest, 'metadata'> {
  // Prometheus' operator names the pods' Service in the label `service`.
  const query = `sum(${metric}{service="${name}"})`
  return {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    spec: {
      scaleTargetRef: { name: target },
      minReplicaCount,
      maxReplicaCount,
      cooldownPeriod: 300,
      triggers: [{ type: 'prometheus', metadata: { serverAddress: prometheus, query, threshold: String(inFlight) } }],
    },
  }
}
