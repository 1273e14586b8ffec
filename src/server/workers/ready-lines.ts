/** What the command prints for a human once the service is there. @module */
import type { ServeSettings } from '../../engine/options.ts'
import type { WorkerReady } from './worker-messages.ts'

/** @returns lines with the address of the service and the paths that it answers. */
export function readyLines(ready: WorkerReady, workers: number, serve: ServeSettings): string[] {
  const count = workers === 1 ? '1 worker' : `${workers} workers`
  const codec = ready.nativeCodec ? 'native codec' : 'TypeScript codec'
  const { host, port = 0, grpcPort, tlsCert } = serve
  const place = originOf(host, port, tlsCert === undefined ? 'http' : 'https')
  return [
    `serving ${ready.service} at ${place} (${count}, ${ready.engine} engine, ${codec}, JPEG by ${ready.jpegLibrary})`,
    ...ready.paths,
    ...(grpcPort === undefined
      ? []
      : [`gRPC at ${originOf(host, grpcPort).replace('http://', '')}`]),
  ]
}

/** @returns the URL of a listening address: `localhost` for all addresses, IPv6 in brackets. */
export function originOf(
  host: string | undefined,
  port: number,
  scheme: 'http' | 'https' = 'http',
): string {
  if (host === undefined || host === '0.0.0.0' || host === '::')
    return `${scheme}://localhost:${port}`
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
