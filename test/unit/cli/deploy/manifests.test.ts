import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { describe, expect, it } from 'vitest'
import type { BuiltService } from '../../../../src/cli/deploy/built-service.ts'
import { type DeployOptions, resources } from '../../../../src/cli/deploy/container.ts'
import { kserveManifests } from '../../../../src/cli/deploy/kserve.ts'
import { kubernetesManifests } from '../../../../src/cli/deploy/kubernetes.ts'
import { type Manifest, resourceName } from '../../../../src/cli/deploy/manifest.ts'

// What Kubernetes 1.36, KServe 0.20, KEDA 2.18 and Prometheus' operator 0.85 publish: fixture.mjs beside them.
const { definitions, roots }: { definitions: object; roots: Record<string, object> } = JSON.parse(
  readFileSync(new URL('../../../fixtures/kubernetes/schemas.json', import.meta.url), 'utf8'),
)
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
const validators = new Map<string, ValidateFunction>(
  Object.entries(roots).map(([kind, root]) => [kind, ajv.compile({ ...root, definitions })]),
)

/** Returns what the platform would refuse of a manifest, unknown fields included. */
function faults(manifest: Manifest): string[] {
  const validate = validators.get(`${manifest.apiVersion} ${manifest.kind}`)
  if (validate === undefined) return [`${manifest.apiVersion} ${manifest.kind} is not known`]
  validate(JSON.parse(JSON.stringify(manifest)))
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${manifest.kind}${instancePath} ${message} ${JSON.stringify(params)}`
  })
}

const service: BuiltService = {
  name: 'Iris_Classifier',
  version: '1.2.0+build.5',
  runners: ['model'],
  remoteRunners: [],
  jobs: { timeoutMs: 1_800_000, concurrency: 3 },
  options: {},
}
const options: DeployOptions = {
  image: 'registry.example/iris:1.2.0',
  workers: 2,
  replicas: [2, 10],
  inFlight: 32,
  autoscaler: 'hpa',
  prometheus: 'http://prometheus:9090',
  jobWorkers: [0, 4],
  queued: 20,
}
const withGrpc: BuiltService = {
  ...service,
  options: { grpcPort: 3001, drainTimeoutMs: 60_000, baseUrl: '/models' },
}
const cases: [string, BuiltService, DeployOptions][] = [
  ['the defaults', service, options],
  ['KEDA', service, { ...options, autoscaler: 'keda' }],
  ['gRPC, a base URL and a namespace', withGrpc, { ...options, namespace: 'models' }],
]

/** Returns what a path such as `selector.matchLabels` leads to in the spec of the manifest of a kind. */
function find(manifests: Manifest[], kind: string, path: string): unknown {
  let value: unknown = manifests.find((manifest) => manifest.kind === kind)?.spec
  for (const key of path.split('.')) value = (value as Record<string, unknown>)[key]
  return value
}

describe('manifests for Kubernetes', () => {
  it.each(cases)('are valid with %s', (_, built, given) => {
    const manifests = kubernetesManifests(built, given)
    expect(manifests.flatMap(faults)).toEqual([])
    const scaler = given.autoscaler === 'keda' ? 'ScaledObject' : 'HorizontalPodAutoscaler'
    const kinds = [
      'Deployment',
      'Service',
      scaler,
      'PodDisruptionBudget',
      'NetworkPolicy',
      'ServiceMonitor',
    ]
    expect(manifests.map(({ kind }) => kind)).toEqual(kinds)
    expect(manifests.map(({ metadata }) => metadata.namespace)).toEqual(
      kinds.map(() => given.namespace),
    )
  })

  it('would be refused with a field that does not exist', () => {
    const [deployment] = kubernetesManifests(service, options)
    const wrong = { ...deployment, spec: { ...deployment.spec, replica: 2 } }
    expect(faults(wrong)).toEqual([
      'Deployment/spec must NOT have additional properties {"additionalProperty":"replica"}',
    ])
    expect(faults({ ...deployment, kind: 'Deploymint' })).toEqual([
      'apps/v1 Deploymint is not known',
    ])
  })

  it('select the pods that they make', () => {
    const manifests = kubernetesManifests(service, options)
    const labels = find(manifests, 'Deployment', 'template.metadata.labels')
    const selectors = [
      find(manifests, 'Deployment', 'selector.matchLabels'),
      find(manifests, 'Service', 'selector'),
      find(manifests, 'PodDisruptionBudget', 'selector.matchLabels'),
      find(manifests, 'NetworkPolicy', 'podSelector.matchLabels'),
    ]
    for (const selector of selectors) expect(labels).toMatchObject(selector as object)
  })

  it('give a pod the time that its requests may take', () => {
    const pod = (built: BuiltService, path: string) =>
      find(kubernetesManifests(built, options), 'Deployment', `template.spec.${path}`)
    expect(pod(service, 'terminationGracePeriodSeconds')).toBe(40)
    expect(pod(withGrpc, 'terminationGracePeriodSeconds')).toBe(70)
    const own = { ...service, options: { drainDelayMs: 20_000 } }
    expect(pod(own, 'terminationGracePeriodSeconds')).toBe(55)
    const delays = (built: BuiltService) =>
      JSON.stringify(pod(built, 'containers.0.env')).match(
        /SERVING_DRAIN_DELAY_MS","value":"(\d+)/,
      )?.[1]
    expect([delays(service), delays(own)]).toEqual(['5000', undefined])
    const probe = pod(withGrpc, 'containers.0.readinessProbe.httpGet')
    expect(probe).toEqual({ path: '/models/readyz', port: 'http' })
  })

  it('run jobs in pods of their own, which the depth of the queue scales', () => {
    const given = { ...options, jobStore: 'redis://redis:6379', namespace: 'models' }
    const manifests = kubernetesManifests(withGrpc, given)
    expect(manifests.flatMap(faults)).toEqual([])
    const front = manifests.slice(0, 6)
    const workers = manifests.slice(6)
    const kinds = [
      'Deployment',
      'Service',
      'ScaledObject',
      'PodDisruptionBudget',
      'NetworkPolicy',
      'ServiceMonitor',
    ]
    expect(workers.map(({ kind, metadata }) => [kind, metadata.name])).toEqual(
      kinds.map((kind) => [kind, 'iris-classifier-worker']),
    )
    const env = (of: Manifest[]) => find(of, 'Deployment', 'template.spec.containers.0.env')
    const store = { name: 'SERVING_JOB_STORE', value: 'redis://redis:6379' }
    expect(env(front)).toEqual(
      expect.arrayContaining([store, { name: 'SERVING_JOB_ROLE', value: 'submit' }]),
    )
    expect(env(workers)).toEqual(
      expect.arrayContaining([store, { name: 'SERVING_JOB_ROLE', value: 'work' }]),
    )
    expect(find(front, 'Service', 'selector')).toEqual({
      'app.kubernetes.io/name': 'iris-classifier',
    })
    const labels = find(workers, 'Deployment', 'template.metadata.labels')
    expect(labels).toMatchObject(find(workers, 'Service', 'selector') as object)
    expect(find(workers, 'ScaledObject', 'scaleTargetRef.name')).toBe('iris-classifier-worker')
    expect(find(workers, 'ScaledObject', 'minReplicaCount')).toBe(0)
    const trigger = (status: string, threshold: string) => ({
      type: 'prometheus',
      metadata: {
        serverAddress: 'http://prometheus:9090',
        query: `max(sum by (pod) (serving_jobs{service="iris-classifier",status="${status}",api!="$webhooks"}))`,
        threshold,
      },
    })
    // Two processes in a pod, three jobs in each.
    expect(find(workers, 'ScaledObject', 'triggers')).toEqual([
      trigger('queued', '20'),
      trigger('running', '6'),
    ])
  })

  it('give a pod that runs jobs the time that its longest job may take', () => {
    const manifests = kubernetesManifests(withGrpc, { ...options, jobStore: 'redis://redis:6379' })
    const [front, worker] = [manifests, manifests.slice(6)].map((each) =>
      find(each, 'Deployment', 'template.spec'),
    )
    expect(front).toMatchObject({ terminationGracePeriodSeconds: 70 })
    const drain = { name: 'SERVING_DRAIN_TIMEOUT_MS', value: '1800000' }
    expect(worker).toMatchObject({ terminationGracePeriodSeconds: 1_810 })
    expect(find(manifests.slice(6), 'Deployment', 'template.spec.containers.0.env')).toContainEqual(
      drain,
    )
    expect(find(manifests, 'Deployment', 'template.spec.containers.0.env')).not.toContainEqual(
      drain,
    )
  })

  it('ask for a core for each worker and for its runners', () => {
    expect(resources(1, 0)).toEqual({
      requests: { cpu: '1', memory: '256Mi' },
      limits: { memory: '512Mi' },
    })
    expect(resources(2, 1)).toEqual({
      requests: { cpu: '4', memory: '768Mi' },
      limits: { memory: '1536Mi' },
    })
  })
})

describe('manifests for KServe', () => {
  it.each(cases)('are valid with %s', (_, built, given) => {
    const manifests = kserveManifests(built, given)
    expect(manifests.flatMap(faults)).toEqual([])
    expect(manifests.map(({ kind }) => kind)).toEqual(['ServingRuntime', 'InferenceService'])
    const model = find(manifests, 'InferenceService', 'predictor.model')
    expect(model).toMatchObject({ runtime: manifests[0].metadata.name, protocolVersion: 'v2' })
    expect(find(manifests, 'ServingRuntime', 'protocolVersions')).toContain('v2')
    expect(find(manifests, 'ServingRuntime', 'containers.0.name')).toBe('kserve-container')
  })

  it.each(cases)(
    'put a service with a remote model in front of a predictor, with %s',
    (_, built, given) => {
      const remote = { ...built, runners: [], remoteRunners: ['digits'] }
      expect(() => kserveManifests(remote, given)).toThrow(
        'the model of the runner digits is remote: say what KServe serves, as in --model-format onnx --storage-uri s3:',
      )
      const model = { modelFormat: 'onnx', storageUri: 's3://models/digits' }
      const manifests = kserveManifests(remote, { ...given, ...model })
      expect(manifests.flatMap(faults)).toEqual([])
      expect(manifests.map(({ kind }) => kind)).toEqual(['InferenceService'])
      const read = (path: string) => find(manifests, 'InferenceService', path)
      expect(read('predictor.model')).toMatchObject({
        modelFormat: { name: 'onnx' },
        storageUri: 's3://models/digits',
      })
      expect(read('transformer.containers.0.name')).toBe('kserve-container')
      const url = { name: 'PREDICTOR_URL', value: `http://${manifests[0].metadata.name}-predictor` }
      expect(read('transformer.containers.0.env')).toContainEqual(url)
    },
  )

  it('would be refused with a field that does not exist', () => {
    const inference = kserveManifests(service, options)[1]
    const wrong = {
      ...inference,
      spec: { predictor: { ...(inference.spec.predictor as object), minReplica: 1 } },
    }
    expect(faults(wrong)).toEqual([
      'InferenceService/spec/predictor must NOT have additional properties {"additionalProperty":"minReplica"}',
    ])
  })
})

it('names follow the rules of Kubernetes', () => {
  expect(resourceName('Iris_Classifier')).toBe('iris-classifier')
  expect(resourceName('7 Größen!')).toBe('gr-en')
  expect(resourceName('…')).toBe('service')
  expect(resourceName(`a${'-b'.repeat(60)}`)).toMatch(/^[a-z][a-z0-9-]{0,61}[a-z0-9]$/)
})
