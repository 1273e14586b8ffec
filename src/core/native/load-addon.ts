/**
 * Loads native add-ons: those compiled here, else those of the package. `SERVING_NATIVE=off` leaves them out;
 * `SERVING_NATIVE_PATH` names another binary, beside which the others lie (see native/sanitize.mjs). @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../native/', import.meta.url))
const target = `${process.platform}-${process.arch}`

/** Best first. Binaries of one C library do not load with the other, so both can be tried. */
const built = ['build/Release', `prebuilds/${target}`, `prebuilds/${target}-musl`]
const named = process.env.SERVING_NATIVE_PATH
const folders = named ? [dirname(named)] : built.map((folder) => join(root, folder))

/** An add-on and where it is, or why it is absent. */
export type LoadedAddon<A> = {
  readonly addon?: A
  readonly path?: string
  readonly reason?: string
}

/**
 * `unbuilt`: the reason if only other add-ons were built.
 *
 * @returns the first loadable binary with the caller's interface version, or the reason against it.
 */
export function loadAddon<A extends { readonly contract: number }>(
  file: string,
  contract: number,
  unbuilt?: string,
): LoadedAddon<A> {
  if (process.env.SERVING_NATIVE === 'off') return { reason: 'switched off by SERVING_NATIVE=off' }
  const require = createRequire(import.meta.url)
  let failure: string | undefined
  for (const path of folders.map((folder) => join(folder, file)).filter(existsSync)) {
    try {
      const addon = require(path) as A
      if (addon.contract === contract) return { addon, path }
      failure ??= `built from other sources: ${advice}`
    } catch (error) {
      failure ??= `failed to load: ${error instanceof Error ? error.message : error}: ${advice}`
    }
  }
  const others = folders.some(existsSync) ? unbuilt : undefined
  return { reason: failure ?? others ?? absence() }
}

/** Builds the add-ons wherever the package is installed, even without install scripts. */
const advice = `run \`node ${join(relative(process.cwd(), root), 'build.mjs')} --force\``

function absence(): string {
  const note = join(root, 'build', 'skipped.txt')
  if (existsSync(note)) return `not built: ${readFileSync(note, 'utf8')}. Then ${advice}`
  return `missing for ${target}: ${advice}`
}
