/** Checks uWebSockets.js's binary before it is loaded: it reads what clients send first. @module */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { uwsChecksums } from './uws-checksums.ts'

/** Passes a reviewed, `allowed` or absent binary. **Errors**: Error with the file and its SHA-256. */
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

/** Undefined if the package is not installed. **Errors**: Error if it has no binary for this system and Node. */
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
  // native/prune.mjs removes other systems' binaries.
  const wasRemoved = known !== undefined && existsSync(join(root, 'uWebSockets.js', 'dist', 'bin'))
  const remedy = wasRemoved
    ? 'another Node installed it, and kept its own: remove node_modules and run npm install again with this Node'
    : 'its official build may have one'
  throw new Error(
    `uWebSockets.js as installed here has no binary for Node ${process.version} on ${process.platform} ` +
      `${process.arch} (uws_${target}.node); ${remedy}`,
  )
}
