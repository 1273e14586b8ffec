/** Manifests for Kubernetes. @module */
import type { BuiltService } from './built-service.ts'
import { container, type DeployOptions, podSpec } from './container.ts'
import { type Manifest, metricsPath, namesOf, portsOf } from './manifest.ts'

/** Metric of each pod by which they are scaled: src/server/telemetry/server-metrics.ts. */
const metric = 'serving_requests_in_flight'

const http = { containerPort: 3000, name: 'http' }
const grpc = { containerPort: 3001, name: 'grpc' }

/** Returns the manifests of a service: pods, their addresses, scaling, disruption, network and metrics. */
export function kubernetesManifests(service: BuiltService, options: DeployOptions): Manifest[] {
  const { name, selector, labels, manifest } = namesOf(service, options.namespace)
  const pods = { matchLabels: selector }
  const ports = portsOf(service, http, grpc)
  const spread = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }
  return [
    manifest('apps/v1', 'Deployment', {
      selector: pods,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels },
        spec: {
          ...podSpec(service),
          topologySpreadConstraints: [{ ...spread, labelSelector: pods }],
          containers: [container(service, options, name, ports)],
        },
      },
    }),
    manifest('v1', 'Service', {
      selector,
      ports: ports.map((port) =>
        port === http
          ? { name: 'http', port: 80, targetPort: 'http', appProtocol: 'http' }
          : { name: 'grpc', port: port.containerPort, targetPort: 'grpc', appProtocol: 'kubernetes.io/h2c' },
      ),
    }),
    options.autoscaler === 'keda'
      ? manifest('keda.sh/v1alpha1', 'ScaledObject', scaledObject(name, options))
      : manifest('autoscaling/v2', 'HorizontalPodAutoscaler', horizontalAutoscaler(name, options)),
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

function horizontalAutoscaler(name: string, { inFlight, replicas: [minReplicas, maxReplicas] }: DeployOptions) {
  const target = { type: 'AverageValue', averageValue: String(inFlight) }
  return {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    minReplicas,
    maxReplicas,
    metrics: [{ type: 'Pods', pods: { metric: { name: metric }, target } }],
    behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
  }
}

function scaledObject(name: string, { inFlight, prometheus: serverAddress, replicas: [min, max] }: DeployOptions) {
  // Prometheus' operator names the pods' Service in the label `service`.
  const query = `sum(${metric}{service="${name}"})`
  return {
    scaleTargetRef: { name },
    minReplicaCount: min,
    maxReplicaCount: max,
    cooldownPeriod: 300,
    triggers: [{ type: 'prometheus', metadata: { serverAddress, query, threshold: String(inFlight) } }],
  }
}
