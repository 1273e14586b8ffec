/**
 * Makes the tracer of a server.
 * @module
 */
import type { Tracer } from './tracer.ts'

/**
 * Returns a tracer for the SDK that the application has registered; undefined without one. The API of OpenTelemetry is
 * loaded only then, which takes 20 ms and 5 MB. `share`: see ServeOptions, `traceSample`.
 */
export async function createTracer(share: number | undefined, scheme: 'http' | 'https'): Promise<Tracer | undefined> {
  // Where all copies of the API's major version 1 find what is registered.
  const registered = (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')]
  if ((registered as { readonly trace?: unknown } | undefined)?.trace === undefined) return undefined
  const { isSdkRegistered, OtelTracer, sampleShare } = await import('./otel-tracer.ts')
  return isSdkRegistered() ? new OtelTracer(share ?? sampleShare(process.env), scheme) : undefined
}
