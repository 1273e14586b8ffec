/** The package as users get it. @module */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A script for browsers, and what the bundler said while it made it. */
interface ClientScript {
  readonly text: string
  readonly warnings: readonly string[]
}

/** The bundlers whose scripts of the client are tried. */
export const bundlerNames = ['esbuild', 'Rollup', 'Vite', 'webpack']

/** Bundles `serving/client` of a project, whole, as the global object `serving`. */
export const {
  bundleClient,
}: { bundleClient(project: string, bundler: string): Promise<ClientScript> } = await import(
  `${new URL('./bundlers.mjs', import.meta.url)}`
)

/**
 * Returns a folder in whose node_modules is what `npm pack` packs, with links to what it depends on and to packages
 * that are named: by default, those that TypeScript and the commands for development need. It is removed after the
 * tests of the file.
 */
export function packedProject(
  packages: readonly string[] = ['tsx', 'chokidar', 'esbuild'],
): string {
  const folder = mkdtempSync(join(tmpdir(), 'serving-packed-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const told = execFileSync('npm', pack, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ filename }] = Object.values<{ filename: string }>(JSON.parse(told))
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', folder])
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8'))
  mkdirSync(join(folder, 'node_modules'))
  renameSync(join(folder, 'package'), join(folder, 'node_modules/serving'))
  for (const name of [...Object.keys(dependencies), ...packages]) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'dir')
  }
  return folder
}
