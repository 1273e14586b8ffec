/**
 * Checks the binary of uWebSockets.js against a table of reviewed ones before it is loaded: its package is a third
 * party's, and its code reads what clients send before any of ours does.
 * @module
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { uwsChecksums } from './uws-checksums.ts'

/**
 * Returns when the binary is a known one, or the one whose SHA-256 `allowed` names; also when there is none, for which
 * the import fails with a better message.
 *
 * **Errors**: Error that names the file and its SHA-256.
 * **Cost**: 10 ms, once: 7 MB are read and hashed.
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

/** Returns the path of this platform's binary: below `dist/bin` in the repack, at the root in uWebSockets.js itself. */
function findUwsBinary(): string | undefined {
  const folders = createRequire(import.meta.url).resolve.paths('uWebSockets.js') ?? []
  const folder = folders.map((path) => join(path, 'uWebSockets.js')).find((path) => existsSync(path))
  if (folder === undefined) return undefined
  return [join(folder, 'dist', 'bin'), folder].map((path) => join(path, `uws_${target}.node`)).find(existsSync)
}
