/** Finds, checks and loads uWebSockets.js. @module */

import type { TemplatedApp } from 'uWebSockets.js'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { uwsChecksums } from './uws-checksums.ts'

/** The module. */
export type Uws = typeof import('uWebSockets.js')

export type {
  HttpRequest as NativeRequest,
  HttpResponse as NativeResponse,
  us_listen_socket as ListenSocket,
  us_socket_context_t as NativeSocketContext,
  WebSocket as NativeWebSocket,
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

/** The module and where it comes from. */
export interface LoadedUws {
  readonly uws: Uws
  /** Name and version of the package. */
  readonly origin: string
}

/** One binary of this system and Node. */
export interface UwsBinary {
  readonly file: string
  readonly origin: string
}

const require = createRequire(import.meta.url)
const target = `${process.platform}_${process.arch}_${process.versions.modules}`
/** Newest first: its binaries for Linux need glibc 2.38. The other one may be replaced by the official build. */
const packages = ['uWebSockets.js-20.57', 'uWebSockets.js']

/** Returns the first binary that is known and loads, or why it failed. Called when a server starts. */
export function loadUws(
  binaries: readonly UwsBinary[] = findUwsBinaries(),
  allowed: string | undefined = process.env.SERVING_UWS_SHA256,
): LoadedUws | string {
  // Read by the binary while it loads. Its default of 4 KiB is too small for usual cookies.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384'
  const reasons: string[] = []
  for (const { file, origin } of binaries) {
    try {
      checkUwsBinary(file, allowed)
      return { uws: require(file), origin }
    } catch (error) {
      reasons.push(error instanceof Error ? (error.message.split('\n', 1)[0] as string) : String(error))
    }
  }
  if (reasons.length > 0) return reasons.join('; ')
  const name = `uws_${target}.node`
  const remedy = Object.values(uwsChecksums).includes(name)
    ? 'if another version of Node installed the packages, install them again with this one'
    : 'the packages that serving installs have none for it'
  return `no package here has a binary for Node ${process.version} (${name}); ${remedy}`
}

/**
 * Passes a reviewed or `allowed` binary: it reads what clients send first. **Errors**: Error with the file and its
 * SHA-256.
 */
export function checkUwsBinary(file: string, allowed?: string): void {
  const found = createHash('sha256').update(readFileSync(file)).digest('hex')
  if (found === allowed?.toLowerCase() || uwsChecksums[found] === basename(file)) return
  throw new Error(
    `${file} is not a binary that this version of serving was made with: its SHA-256 is ${found}; ` +
      `SERVING_UWS_SHA256=${found} allows it`,
  )
}

/** Returns the binaries for this system and Node in the packages of these folders, those of the newest first. */
export function findUwsBinaries(
  roots: readonly string[] = require.resolve.paths('uWebSockets.js') ?? [],
): readonly UwsBinary[] {
  return packages.flatMap((name) => {
    const root = roots.find((path) => existsSync(join(path, name)))
    if (root === undefined) return []
    const folder = join(root, name)
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const files = [folder, join(root, '@uws')]
      .filter(existsSync)
      .flatMap((each) => readdirSync(each, { recursive: true, encoding: 'utf8' }).map((file) => join(each, file)))
    const found = files.find((file) => basename(file) === `uws_${target}.node`)
    return found === undefined ? [] : [{ file: found, origin: `${name} ${version}` }]
  })
}
