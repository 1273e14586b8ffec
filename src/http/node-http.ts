/** Loads node:http by `require`, as an import reads its export `WebSocket`, which loads undici; listens. @module */
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { SetupError } from '../core/errors.ts'

const require = createRequire(import.meta.url)

/** The module node:http. */
export const http: typeof import('node:http') = require('node:http')
/** The module node:https. */
export const https: typeof import('node:https') = require('node:https')

/** A server of node:http that listens. */
export interface ListeningServer {
  readonly port: number
  close(): Promise<void>
}

/** @throws SetupError if the address cannot be listened on. */
export function listenOn(
  server: Server,
  { host, port }: { readonly host?: string | undefined; readonly port: number },
): Promise<ListeningServer> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const place = `port ${port}${host === undefined ? '' : ` of ${host}`}`
      const why = cause.code === 'EADDRINUSE' ? 'it is in use' : cause.message
      reject(new SetupError('invalid_argument', `cannot listen on ${place}: ${why}`, { cause }))
    })
    server.listen({ host, port }, () => {
      server.removeAllListeners('error')
      // A failing accept (too many open files) must not end the process; Node tries again.
      server.on('error', () => {})
      resolve({ port: (server.address() as AddressInfo).port, close: () => closeAll(server) })
    })
  })
}

function closeAll(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
