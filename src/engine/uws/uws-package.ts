/** The package uWebSockets.js. The only file that imports it. @module */
import type { TemplatedApp } from 'uWebSockets.js'
import { checkUwsBinary } from './uws-binary.ts'

/** The module. */
export type Uws = typeof import('uWebSockets.js')

export type {
  HttpRequest as NativeRequest,
  HttpResponse as NativeResponse,
  us_listen_socket as ListenSocket,
} from 'uWebSockets.js'

/** An app, with methods that are there but not in the package's types. */
export type App = TemplatedApp & {
  /** Gives the connections that this app accepts to others, in turn. */
  addChildAppDescriptor(descriptor: AppDescriptor): unknown
  removeChildAppDescriptor(descriptor: AppDescriptor): unknown
  getDescriptor(): AppDescriptor
}

interface AppDescriptor {
  readonly app: unique symbol
}

/** Returns uWebSockets.js, or the reason why it does not load here. */
export async function loadUws(load: () => Promise<Uws> = importUws): Promise<Uws | string> {
  // Read by the binary while it loads. Its own default of 4 KiB is too small for usual cookies and headers of proxies.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384'
  try {
    return await load()
  } catch (error) {
    return error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
  }
}

async function importUws(): Promise<Uws> {
  checkUwsBinary()
  return exportsOf(await import('uWebSockets.js'))
}

/**
 * Returns the exports of a module by name: of the official package's, which is CommonJS, Node finds the default only.
 */
export function exportsOf(module: Partial<Uws> & { readonly default?: Uws }): Uws {
  return module.App === undefined && module.default !== undefined ? module.default : (module as Uws)
}
