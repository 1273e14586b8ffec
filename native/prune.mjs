/**
 * Removes what an installation never loads: the binaries of uWebSockets.js for other systems and for older versions of
 * Node, 110 of 130 MB for each of its packages, which bring all of them at once; and our own add-ons for other systems,
 * 3 MB. Runs at `npm install`, in projects that depend on this package and not in its own clone; prints what it did. A
 * folder of node_modules that changes its system or goes back to an older Node has to be installed anew.
 * `SERVING_PRUNE=off` leaves everything.
 * @module
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * Returns the names that this system and Node, or a newer one, have no use for. Where all are for older ones than the
 * running Node, the newest stay: going back to that Node is then the way to the faster engine.
 */
export function unused(names, system, abi) {
  const binaries = names.flatMap((name) => {
    const [, of, number] = /^uws_(\w+)_(\d+)\.node$/.exec(name) ?? []
    return of === undefined ? [] : [{ name, of, abi: Number(number) }]
  })
  const oldest = Math.min(
    abi,
    Math.max(...binaries.filter(({ of }) => of === system).map((binary) => binary.abi)),
  )
  return binaries.filter(({ of, abi }) => of !== system || abi < oldest).map(({ name }) => name)
}

/** Returns the binaries of the packages of uWebSockets.js that are {@link unused}. */
function unusedEngines() {
  const paths = createRequire(import.meta.url).resolve.paths('uWebSockets.js') ?? []
  const system = `${process.platform}_${process.arch}`
  return ['uWebSockets.js-20.57', 'uws-pack/dist/bin'].flatMap((name) => {
    const folder = paths.map((path) => join(path, name)).find((path) => existsSync(path))
    if (folder === undefined) return []
    return unused(readdirSync(folder), system, Number(process.versions.modules)).map((file) =>
      join(folder, file),
    )
  })
}

/** Returns our own add-ons for other systems. Those of both C libraries stay: which one loads is found by trying. */
function unusedAddons() {
  const folder = join(root, 'native', 'prebuilds')
  if (!existsSync(folder)) return []
  const target = `${process.platform}-${process.arch}`
  return readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && entry.name !== target && entry.name !== `${target}-musl`,
    )
    .flatMap(({ name }) => readdirSync(join(folder, name)).map((file) => join(folder, name, file)))
}

function main() {
  if (process.env.SERVING_PRUNE === 'off' || basename(dirname(root)) !== 'node_modules') return
  const files = [...unusedEngines(), ...unusedAddons()]
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
  for (const file of files) rmSync(file)
  if (files.length > 0)
    console.log(
      `serving: ${files.length} binaries for other systems removed (${Math.round(bytes / 1e6)} MB)`,
    )
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main()
  } catch (error) {
    // A folder that cannot be written costs space, not the installation.
    console.log(`serving: binaries for other systems stay (${error.message})`)
  }
}
