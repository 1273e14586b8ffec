/** What all manifests of a service have in common: names, labels and ports. @module */
import type { BuiltService } from './built-service.ts'

/** A manifest of any kind. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly spec: Readonly<Record<string, unknown>>
}

/** A port of a container. */
export interface Port {
  readonly containerPort: number
  readonly name: string
}

/**
 * @returns a name of Kubernetes's: lower-case letters, digits and dashes, at most 63, a letter
 * first.
 */
export function resourceName(name: string): string {
  const words = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const lettered = words.replace(/^[^a-z]+/, '').slice(0, 63)
  return lettered.replace(/-+$/, '') || 'service'
}

const labelValue = (text: string): string => text.replace(/[^\w.-]/g, '-').slice(0, 63)

/** The names of a service's manifests. */
export type Names = ReturnType<typeof namesOf>

/** @returns the names of a service in a namespace, or in that of kubectl. */
export function namesOf(service: BuiltService, namespace: string | undefined) {
  const name = resourceName(service.name)
  const selector = { 'app.kubernetes.io/name': name }
  const version = { 'app.kubernetes.io/version': labelValue(service.version) }
  const labels = { ...selector, ...version, 'app.kubernetes.io/component': 'model-server' }
  const common = { name, ...(namespace !== undefined && { namespace }), labels }
  return {
    name,
    selector,
    labels,
    manifest(
      apiVersion: string,
      kind: string,
      spec: Manifest['spec'],
      annotations?: Readonly<Record<string, string>>,
    ): Manifest {
      return {
        apiVersion,
        kind,
        metadata: { ...common, ...(annotations && { annotations }) },
        spec,
      }
    },
  }
}

/** @returns the ports that the service listens on: HTTP's, and gRPC's where it has one. */
export function portsOf({ options }: BuiltService, http: Port, grpc: Port): readonly Port[] {
  return options.grpcPort === undefined ? [http] : [http, grpc]
}

/** @returns the path of metrics. */
export const metricsPath = ({ options }: BuiltService): string => `${options.baseUrl ?? ''}/metrics`
