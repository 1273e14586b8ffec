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

/** With methods that the package's types lack. */
export type App = TemplatedApp & {
  /** Gives the connections that this app accepts to others, in turn. */
  addChildAppDescriptor(descriptor: AppDescriptor): unknown
  removeChildAppDescriptor(descriptor: AppDescriptor): unknown
  getDescriptor(): AppDescriptor
}

interface AppDescriptor {
  readonly app: unique symbol
}

/** Returns the module, or why it does not load. */
export async function loadUws(load: () => Promise<Uws> = importUws): Promise<Uws | string> {
  // Read by the binary while it loads. Its default of 4 KiB is too small for usual cookies.
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

/** Node finds only the default export of the official package, which is CommonJS. */
export function exportsOf(module: Partial<Uws> & { readonly default?: Uws }): Uws {
  return module.App === undefined && module.default !== undefined ? module.default : (module as Uws)
}
