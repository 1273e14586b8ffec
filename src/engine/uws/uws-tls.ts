/** TLS of uWebSockets.js with certificates that can be replaced. @module */
import { SetupError } from '../../core/errors.ts'
import type { TlsFiles } from '../tls-files.ts'
import type { App, Uws } from './uws-package.ts'

/** An app to listen with, and what closes all connections that it has accepted. */
export interface AcceptingApp {
  readonly app: App
  close(): void
}

/**
 * Returns an app that accepts TLS connections and gives them to another one with the routes. When the files change,
 * new connections go to a new app with the new certificate; those of the old one go on.
 *
 * An app of uWebSockets.js (of uws-pack 20.0.8) never reads its certificate again. `addServerName` would replace it for
 * clients that send a server name only, and listening again on the port would reset connections that wait in the queue
 * of the old listening socket. An app that was replaced stays until the server closes, since nothing tells when its
 * last connection ends: its memory is that of one certificate.
 */
export function tlsApp(uws: Uws, tls: TlsFiles, addRoutes: (app: App) => void): AcceptingApp {
  const acceptor = create(uws, tls)
  const apps: App[] = []
  const add = () => {
    const app = create(uws, tls)
    addRoutes(app)
    acceptor.addChildAppDescriptor(app.getDescriptor())
    const replaced = apps.at(-1)
    if (replaced !== undefined) acceptor.removeChildAppDescriptor(replaced.getDescriptor())
    apps.push(app)
  }
  add()
  tls.onChange(add)
  return {
    app: acceptor,
    close() {
      for (const app of [acceptor, ...apps]) app.close()
    },
  }
}

function create(uws: Uws, { certFile, keyFile }: TlsFiles): App {
  try {
    return uws.SSLApp({ cert_file_name: certFile, key_file_name: keyFile }) as App
  } catch (cause) {
    const files = `${certFile} and ${keyFile}`
    const remedy = 'engine node may read them'
    throw new SetupError('invalid_argument', `uWebSockets.js does not take ${files}: ${remedy}`, { cause })
  }
}
