/** Manifests for KServe: a runtime and its service, or a transformer before another runtime's model. @module */
import { InvalidArgument } from '../../core/errors.ts'
import type { BuiltService } from './built-service.ts'
import { container, type DeployOptions, podSecurity, podSpec, volumes } from './container.ts'
import { type Manifest, metricsPath, type Names, namesOf, portsOf } from './manifest.ts'

/** KServe sends requests to 8080 unless told otherwise, and finds protocols by the names of ports. */
const http = { containerPort: 8080, name: 'http1' }
const grpc = { containerPort: 9000, name: 'h2c' }

const containerName = 'kserve-container'

const modelsFolder = '/mnt/models'

/**
 * A service with a remote model becomes the transformer of one that KServe's own runtimes serve.
 *
 * @returns the manifests of a service: a runtime and a service by it; its models are in the image,
 * those of `storageUri` below /mnt/models.
 * @throws InvalidArgument for a remote model of which `options` say too little.
 */
export function kserveManifests(service: BuiltService, options: DeployOptions): Manifest[] {
  const names = namesOf(service, options.namespace)
  const [minReplicas, maxReplicas] = options.replicas
  const replicas = { minReplicas, maxReplicas }
  const isTransformer = service.remoteRunners.length > 0
  const scaling = {
    ...replicas,
    ...scaler(isTransformer ? 'transformer' : 'predictor', names, options),
  }
  const timeout = Math.ceil((service.options.requestTimeoutMs ?? 60_000) / 1000)
  const inference = (spec: Manifest['spec']) =>
    names.manifest('serving.kserve.io/v1beta1', 'InferenceService', spec, {
      'serving.kserve.io/deploymentMode': 'Standard',
    })
  if (isTransformer) {
    const predictor = { ...replicas, timeout, model: remoteModel(service, options) }
    return [
      inference({
        predictor,
        transformer: { ...scaling, timeout, ...transformer(service, options, names) },
      }),
    ]
  }
  const { terminationGracePeriodSeconds } = podSpec(service)
  const model = {
    modelFormat: { name: names.name, version: '1' },
    protocolVersion: 'v2',
    runtime: names.name,
  }
  return [
    runtime(service, options, names),
    inference({ predictor: { ...scaling, timeout, terminationGracePeriodSeconds, model } }),
  ]
}

// Of the pod's rights those that a container has, too: a ServingRuntime has no securityContext of the pod.
const { fsGroup: _, ...podSecurityOfContainer } = podSecurity

function runtime(
  service: BuiltService,
  options: DeployOptions,
  { name, manifest }: Names,
): Manifest {
  const ports = portsOf(service, http, grpc)
  const { securityContext, env, ...rest } = container(service, options, containerName, ports)
  const variables = [...env, { name: 'MODELS_FOLDER', value: modelsFolder }]
  return manifest('serving.kserve.io/v1alpha1', 'ServingRuntime', {
    annotations: {
      'prometheus.kserve.io/port': String(http.containerPort),
      'prometheus.kserve.io/path': metricsPath(service),
    },
    supportedModelFormats: [{ name, version: '1', autoSelect: false }],
    protocolVersions: ports.includes(grpc) ? ['v2', 'grpc-v2'] : ['v2'],
    containers: [
      {
        ...rest,
        env: variables,
        securityContext: { ...podSecurityOfContainer, ...securityContext },
      },
    ],
    volumes,
  })
}

function transformer(service: BuiltService, options: DeployOptions, { name }: Names) {
  const { env, ...rest } = container(service, options, containerName, portsOf(service, http, grpc))
  const variables = { PREDICTOR_URL: `http://${name}-predictor`, PROTOCOL: 'v2' }
  return {
    ...podSpec(service),
    containers: [
      {
        ...rest,
        // KServe adds --model_name and others to the arguments, which sh does not pass on.
        command: ['sh', '-c', 'exec node main.js'],
        env: [...env, ...Object.entries(variables).map(([name, value]) => ({ name, value }))],
      },
    ],
  }
}

function remoteModel(
  { remoteRunners: [runner] }: BuiltService,
  { modelFormat, storageUri }: DeployOptions,
): Manifest['spec'] {
  if (modelFormat === undefined || storageUri === undefined) {
    const example = '--model-format onnx --storage-uri s3://models/iris'
    throw new InvalidArgument(
      `the model of the runner ${runner} is remote: say what KServe serves, as in ${example}`,
    )
  }
  return { modelFormat: { name: modelFormat }, protocolVersion: 'v2', storageUri }
}

/** KServe takes other metrics than the CPU's from Prometheus through KEDA only. */
function scaler(
  component: string,
  { name }: Names,
  { autoscaler, inFlight, prometheus: serverAddress }: DeployOptions,
) {
  if (autoscaler === 'hpa') return { scaleMetric: 'cpu', scaleTarget: 80 }
  const query = `sum(serving_requests_in_flight{service=~"${name}-${component}.*"})`
  const target = { type: 'AverageValue', averageValue: String(inFlight) }
  const metric = { backend: 'prometheus', serverAddress, query }
  return { autoScaling: { metrics: [{ type: 'External', external: { metric, target } }] } }
}
