/** The Python of tests that need one. @module */
import { spawnSync } from 'node:child_process'

/** `PYTHON` of the environment, else `python3`. */
export const python = process.env.PYTHON ?? 'python3'

/** Tells whether that Python has all these packages. */
export function canImport(...packages: readonly string[]): boolean {
  if (packages.length === 0) return true
  return (
    spawnSync(python, ['-c', packages.map((name) => `import ${name}`).join('\n')], {
      stdio: 'ignore',
    }).status === 0
  )
}
