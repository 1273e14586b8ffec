/** Finds, checks and loads uWebSockets.js. @module */

import type { TemplatedApp } from 'uWebSockets.js-20.57'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { errorText, InvalidArgument } from '../../core/errors.ts'
import { uwsChecksums } from './uws-checksums.ts'

/** The module. */
export type Uws = typeof import('uWebSockets.js-20.57')

export type {
  HttpRequest as NativeRequest,
  HttpResponse as NativeResponse,
  us_listen_socket as ListenSocket,
  us_socket_context_t as NativeSocketContext,
  WebSocket as NativeWebSocket,
} from 'uWebSockets.js-20.57'

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
  /** Version, age and packer. */
  readonly origin: string
  /** Why those that go before it do not load here. */
  readonly passedOver: readonly string[]
}

/** What a package has for this system and Node. */
export interface UwsBinary {
  /** Undefined if the package has no binary for them. */
  readonly file: string | undefined
  readonly origin: string
  /** Whether the application itself depends on the package, as on any other: its lock file holds the bytes. */
  readonly isChosen: boolean
}

/** A package of the binaries. */
interface UwsPackage {
  /** Its folder below node_modules. */
  readonly folder: string
  /** What the package holds, which its own version may not tell; undefined for the project's own package. */
  readonly holds?: string
  /** Versions of Node, as `process.versions.modules` has them. */
  readonly abis: readonly string[]
  /** Oldest glibc: 2 and this. */
  readonly glibc: number
  /** Brings a binary that is missing. */
  readonly command: string
}

const brought: UwsPackage = {
  folder: 'uWebSockets.js-20.57',
  holds: 'v20.57.0, newer than November 2025,',
  abis: ['115', '127', '137', '141'],
  glibc: 38,
  command: 'npm ci',
}
const old: UwsPackage = {
  folder: 'uws-pack',
  holds: 'v20.44 to v20.50, of 2024,',
  abis: ['115', '127'],
  glibc: 27,
  command: 'npm install uws-pack@20.0.8',
}
/** Of uWebSockets.js itself, which does not publish on the npm registry. */
const official: UwsPackage = {
  folder: 'uWebSockets.js',
  abis: ['127', '137', '147'],
  glibc: 38,
  command: 'npm install uNetworking/uWebSockets.js#v20.69.0',
}

const pieceBytes = 256 * 1024
const require = createRequire(import.meta.url)
const abi = process.versions.modules
const name = `uws_${process.platform}_${process.arch}_${abi}.node`

/**
 * Called when a server starts.
 *
 * @returns the first binary that is known and loads, or why no binary does.
 */
export function loadUws(binaries: readonly UwsBinary[] = findUwsBinaries()): LoadedUws | string {
  if ('bun' in process.versions || 'deno' in process.versions)
    return 'uWebSockets.js runs on Node alone'
  // Read by the binary while it loads. Its default of 4 KiB is too small for usual cookies.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384'
  const passedOver: string[] = []
  for (const { file, origin, isChosen } of binaries) {
    if (file === undefined) {
      passedOver.push(`${origin}: no ${name}`)
      continue
    }
    try {
      // `serving build` has compared what a build holds: to do it again would be 10 ms of its start.
      if (!isChosen && process.env.SERVING_ENGINE_CHECKED === undefined) checkUwsBinary(file)
      return { uws: require(file), origin, passedOver }
    } catch (error) {
      passedOver.push(`${origin}: ${errorText(error).split('\n', 1)[0]}`)
    }
  }
  const reasons = passedOver.length > 0 ? passedOver : ['no package of uWebSockets.js is installed']
  return [...reasons, uwsRemedy()].join('; ')
}

/**
 * @returns what brings the engine to a Node of this ABI, on a Linux with this glibc; null on musl.
 */
export function uwsRemedy(modules: string = abi, glibc: number | null = glibcMinor()): string {
  const isLinux = process.platform === 'linux'
  if (isLinux && glibc === null) return 'no package has a binary for musl: use Debian 13'
  const fits = (each: UwsPackage) =>
    each.abis.includes(modules) && (!isLinux || Number(glibc) >= each.glibc)
  const remedy = [brought, old, official].find(fits)
  if (remedy !== undefined) return `run ${remedy.command}`
  if (official.abis.includes(modules))
    return 'use a system with glibc 2.38, such as Debian 13 or Ubuntu 24.04'
  return 'use Node 22 or 24'
}

/** @returns the 36 of glibc 2.36; null elsewhere. */
export function glibcMinor(): number | null {
  const { header } = (process.report?.getReport() ?? {}) as {
    header?: { glibcVersionRuntime?: string }
  }
  const { glibcVersionRuntime } = header ?? {}
  return glibcVersionRuntime === undefined ? null : Number(glibcVersionRuntime.split('.')[1])
}

/**
 * Passes a reviewed binary: it reads what clients send first.
 *
 * @throws InvalidArgument with the file and its SHA-256.
 */
export function checkUwsBinary(file: string): void {
  const hash = createHash('sha256')
  // In pieces: the whole file would stay in the memory of an idle worker.
  const piece = Buffer.allocUnsafeSlow(pieceBytes)
  const opened = openSync(file, 'r')
  try {
    for (let size = 1; size > 0; hash.update(piece.subarray(0, size)))
      size = readSync(opened, piece)
  } finally {
    closeSync(opened)
  }
  const found = hash.digest('hex')
  if (uwsChecksums[found] === basename(file)) return
  throw new InvalidArgument(
    `${file} is not a binary that this version of serving was made with: its SHA-256 is ${found}`,
  )
}

/**
 * Passes what a build copies of a package, by the rule of {@link loadUws}.
 *
 * @throws InvalidArgument for a binary of uWebSockets.js that is not reviewed.
 */
export function checkPackedBinaries(
  name: string,
  copies: readonly { readonly from: string }[],
): void {
  if (name === official.folder) return
  for (const { from } of copies) if (/^uws_.*\.node$/.test(basename(from))) checkUwsBinary(from)
}

/**
 * @returns what the packages of these folders have for this system and Node, the application's own
 * choice first.
 */
export function findUwsBinaries(roots: readonly string[] = moduleFolders()): readonly UwsBinary[] {
  return [official, brought, old].flatMap(({ folder: place, holds }) => {
    const root = roots.find((path) => existsSync(join(path, place, 'package.json')))
    if (root === undefined) return []
    const folder = join(root, place)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const id = `${manifest.name} ${manifest.version}`
    const origin =
      holds === undefined
        ? `${id}, chosen by the application`
        : `uWebSockets.js ${holds} packed by ${id}`
    const files = [folder, join(root, '@uws')]
      .filter(existsSync)
      .flatMap((each) =>
        readdirSync(each, { recursive: true, encoding: 'utf8' }).map((file) => join(each, file)),
      )
    return [
      {
        file: files.find((file) => basename(file) === name),
        origin,
        isChosen: holds === undefined,
      },
    ]
  })
}

/**
 * @returns where packages are looked for: from the application's folder, and from this file, which
 * may be linked.
 */
function moduleFolders(): readonly string[] {
  const application = createRequire(join(process.cwd(), 'package.json'))
  return [application, require].flatMap((each) => each.resolve.paths(official.folder) ?? [])
}
