/** The handlers for browsers and Workers as a bundler makes them of the packed package, without anything of Node. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { afterAll } from 'vitest'
import { root } from '../cli/process.ts'

/** A script, and what it was made of. */
export interface Bundle {
  readonly text: string
  readonly inputs: Metafile['inputs']
}

/** Returns a folder in whose node_modules is the package serving-io. It is removed after the tests of the file. */
export function packedIo(folder: string = mkdtempSync(join(tmpdir(), 'serving-io-'))): string {
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const pack = ['scripts/pack-io.mjs', folder]
  const tarball = execFileSync(process.execPath, pack, { cwd: root, encoding: 'utf8' }).trim()
  execFileSync('tar', ['-xzf', tarball, '-C', folder])
  execFileSync('mkdir', ['-p', join(folder, 'node_modules')])
  renameSync(join(folder, 'package'), join(folder, 'node_modules/serving-io'))
  return folder
}

/**
 * Bundles a program with dist/, or with the package of a folder, under the condition of a platform. All has to be in
 * it. What is for browsers becomes the global `handlers`.
 */
export async function bundleOf(
  program: string,
  platform: 'browser' | 'workerd',
  packed?: string,
): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(root, program)],
    alias: {
      'serving/io': packed === undefined ? join(root, 'dist/web/io/index.js') : 'serving-io',
    },
    // The package, and what it depends on.
    nodePaths: [join(packed ?? root, 'node_modules'), join(root, 'node_modules')],
    tsconfigRaw: {},
    bundle: true,
    minify: true,
    metafile: true,
    keepNames: true,
    write: false,
    ...(platform === 'browser'
      ? ({ format: 'iife', globalName: 'handlers' } as const)
      : ({ format: 'esm' } as const)),
    target: 'es2022',
    platform: platform === 'browser' ? 'browser' : 'neutral',
    mainFields: ['browser', 'module', 'main'],
    conditions: platform === 'browser' ? [] : ['workerd', 'worker', 'browser'],
    logLevel: 'silent',
  })
  return { text: outputFiles[0].text, inputs: metafile.inputs }
}
