import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * Runs a module in a copy of the build beside which everything is installed but one package, and returns what it
 * prints. The module finds the package under `./dist/index.js`.
 */
export function runWithout(name: string, module: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'serving-without-'))
  try {
    cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true })
    cpSync(join(root, 'package.json'), join(folder, 'package.json'))
    mkdirSync(join(folder, 'node_modules'))
    const [scope] = name.split('/')
    // A scope goes as a whole: its other packages are the platform builds.
    for (const entry of readdirSync(join(root, 'node_modules'))) {
      if (entry !== scope)
        symlinkSync(join(root, 'node_modules', entry), join(folder, 'node_modules', entry))
    }
    writeFileSync(join(folder, 'main.mjs'), module)
    return execFileSync(process.execPath, ['main.mjs'], { cwd: folder, encoding: 'utf8' })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
