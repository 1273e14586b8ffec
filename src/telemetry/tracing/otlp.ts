/** Starts an OpenTelemetry SDK that sends spans to a collector. The only file that loads its packages. @module */
import { InvalidArgument } from '../../core/errors.ts'
import { loadOptional } from '../../core/modules/optional.ts'

type Sdk = typeof import('@opentelemetry/sdk-trace-node')
type Exporter = typeof import('@opentelemetry/exporter-trace-otlp-http')
type Resources = typeof import('@opentelemetry/resources')

/**
 * The SDKs of the servers of this process. The first one is registered for the spans that functions make, since
 * OpenTelemetry's API has one SDK a process.
 */
const providers = new Set<InstanceType<Sdk['NodeTracerProvider']>>()

/**
 * Starts the SDK of a server; returns it, and what sends the last spans and stops it. `endpoint`:
 * base URL of OTLP over HTTP, such as `http://localhost:4318`.
 *
 * @throws InvalidArgument, MissingDependencyException.
 */
export async function startOtlp(endpoint: string, service: string) {
  if (!URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    throw new InvalidArgument(
      `expected a URL like http://localhost:4318 for otlpEndpoint, received ${endpoint}`,
    )
  }
  const { NodeTracerProvider, BatchSpanProcessor } = loadOptional<Sdk>(
    '@opentelemetry/sdk-trace-node',
    '2',
    'otlpEndpoint',
  )
  const { OTLPTraceExporter } = loadOptional<Exporter>(
    '@opentelemetry/exporter-trace-otlp-http',
    '^0.223.0',
    'otlpEndpoint',
  )
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    loadOptional<Resources>('@opentelemetry/resources', '2', 'otlpEndpoint')
  const own = resourceFromAttributes({ 'service.name': service })
  const resource = defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }))
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` })
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  const { registeredProvider, unregister } = await import('./otel-tracer.ts')
  if (registeredProvider() === undefined) provider.register()
  providers.add(provider)
  const stop = async () => {
    providers.delete(provider)
    const [next] = providers
    if (unregister(provider)) next?.register()
    // An unreachable collector must not keep the process.
    await provider.shutdown().catch(() => {})
  }
  return { provider, stop }
}
