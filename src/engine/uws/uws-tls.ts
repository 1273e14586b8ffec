/** TLS of uWebSockets.js with certificates that can be replaced. @module */
import { SetupError } from '../../core/errors.ts'
import type { TlsFiles } from '../tls-files.ts'
import type { App, Uws } from './uws-package.ts'

/** An app to listen with, and what closes its connections. */
export interface AcceptingApp {
  readonly app: App
  close(): void
}

/** Accepts TLS for the routes' app. uWebSockets.js never reads a certificate again: new files get a new app. */
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
    throw new SetupError('invalid_argument', `uWebSockets.js does not take ${files}: ${remedy}`, {
      cause,
    })
  }
}
