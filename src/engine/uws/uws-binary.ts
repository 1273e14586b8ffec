/**
 * Checks the binary of uWebSockets.js against a table of reviewed ones before it is loaded: its package is a third
 * party's, and its code reads what clients send before any of ours does.
 * @module
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { uwsChecksums } from './uws-checksums.ts'

/**
 * Returns if the binary is known, is the one that `allowed` names, or is not installed.
 * **Errors**: Error with the file and its SHA-256, or that there is none for this system and version of Node.
 */
export function checkUwsBinary(
  allowed: string | undefined = process.env.SERVING_UWS_SHA256,
  file: string | undefined = findUwsBinary(),
  known: string | undefined = uwsChecksums[target],
): void {
  if (file === undefined) return
  const found = createHash('sha256').update(readFileSync(file)).digest('hex')
  if (found === known || found === allowed?.toLowerCase()) return
  throw new Error(
    `${file} is not the binary that this version of serving was made with: its SHA-256 is ${found}, ` +
      `expected ${known ?? 'none for this platform'}; SERVING_UWS_SHA256=${found} allows it`,
  )
}

const target = `${process.platform}_${process.arch}_${process.versions.modules}`

/**
 * Returns the path of this system's binary: in the repack, in uWebSockets.js itself, or in `@uws/uws_<system>` beside
 * it. Undefined where the package is not installed. **Errors**: Error when it has none for this system and Node.
 */
export function findUwsBinary(
  roots: readonly string[] = createRequire(import.meta.url).resolve.paths('uWebSockets.js') ?? [],
  known: string | undefined = uwsChecksums[target],
): string | undefined {
  const root = roots.find((path) => existsSync(join(path, 'uWebSockets.js')))
  if (root === undefined) return undefined
  const folders = [join(root, 'uWebSockets.js'), join(root, '@uws')].filter(existsSync)
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  const found = files.find((file) => basename(file) === `uws_${target}.node`)
  if (found !== undefined) return found
  // native/prune.mjs removes those that the Node of the installation has no use for, of the repack that they lie in.
  const wasRemoved = known !== undefined && existsSync(join(root, 'uWebSockets.js', 'dist', 'bin'))
  const remedy = wasRemoved
    ? 'another Node installed it, and kept its own: remove node_modules and run npm install again with this Node'
    : 'its official build may have one'
  throw new Error(
    `uWebSockets.js as installed here has no binary for Node ${process.version} on ${process.platform} ` +
      `${process.arch} (uws_${target}.node); ${remedy}`,
  )
}
