/**
 * Manifests for KServe: a runtime that speaks the Open Inference Protocol v2, and a service by it.
 * @module
 */
import type { BuiltService } from './built-service.ts'
import { container, type DeployOptions, labelValue, podSecurity, resourceName, volumes } from './container.ts'
import type { Manifest } from './kubernetes.ts'

/** KServe sends requests to 8080 unless told otherwise, and finds protocols by the names of ports. */
const httpPort = 8080
const grpcPort = 9000

/** Where KServe puts the files of `storageUri`. */
const modelsFolder = '/mnt/models'

/** Returns the runtime and the service. The models are in the image; those of `storageUri` are below /mnt/models. */
export function kserveManifests(service: BuiltService, options: DeployOptions): Manifest[] {
  const name = resourceName(service.name)
  const { namespace, replicas, inFlight } = options
  const metadata = (more: object = {}) => ({
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/version': labelValue(service.version) },
    ...more,
  })
  const hasGrpc = service.options.grpcPort !== undefined
  const ports = [
    { containerPort: httpPort, name: 'http1' },
    ...(hasGrpc ? [{ containerPort: grpcPort, name: 'h2c' }] : []),
  ]
  const { securityContext, env, ...rest } = container(service, options, 'kserve-container', ports)
  const variables = [...env, { name: 'MODELS_FOLDER', value: modelsFolder }]
  const [minReplicas, maxReplicas] = replicas
  const runtime: Manifest = {
    apiVersion: 'serving.kserve.io/v1alpha1',
    kind: 'ServingRuntime',
    metadata: metadata(),
    spec: {
      annotations: {
        'prometheus.kserve.io/port': String(httpPort),
        'prometheus.kserve.io/path': `${service.options.baseUrl ?? ''}/metrics`,
      },
      supportedModelFormats: [{ name, version: '1', autoSelect: false }],
      protocolVersions: hasGrpc ? ['v2', 'grpc-v2'] : ['v2'],
      containers: [{ ...rest, env: variables, securityContext: { ...podSecurityOfContainer, ...securityContext } }],
      volumes,
    },
  }
  const inference: Manifest = {
    apiVersion: 'serving.kserve.io/v1beta1',
    kind: 'InferenceService',
    metadata: metadata({ annotations: { 'serving.kserve.io/deploymentMode': 'Standard' } }),
    spec: {
      predictor: {
        minReplicas,
        maxReplicas,
        // KServe takes other metrics than the CPU's from Prometheus through KEDA only.
        ...(options.autoscaler === 'keda'
          ? { autoScaling: kedaScaling(name, inFlight, options.prometheus) }
          : { scaleMetric: 'cpu', scaleTarget: 80 }),
        timeout: Math.ceil((service.options.requestTimeoutMs ?? 60_000) / 1000),
        model: { modelFormat: { name, version: '1' }, protocolVersion: 'v2', runtime: name },
      },
    },
  }
  return [runtime, inference]
}

// Of the pod's rights those that a container has, too: a ServingRuntime has no securityContext of the pod.
const { fsGroup: _, ...podSecurityOfContainer } = podSecurity

function kedaScaling(name: string, inFlight: number, serverAddress: string) {
  const query = `sum(serving_requests_in_flight{service=~"${name}-predictor.*"})`
  const target = { type: 'AverageValue', averageValue: String(inFlight) }
  return {
    metrics: [{ type: 'External', external: { metric: { backend: 'prometheus', serverAddress, query }, target } }],
  }
}
