/** The cases of `cases.mjs` on each runtime that is here: `BUN` and `DENO` name programs, as in test/io/hosts.ts. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const page = readFileSync(new URL('../../docs/deploy/engine.md', import.meta.url), 'utf8')
const cases = fileURLToPath(new URL('cases.mjs', import.meta.url))
const runtimes: Readonly<Record<string, readonly string[]>> = {
  Node: [process.execPath],
  Bun: [process.env.BUN ?? 'bun'],
  Deno: [process.env.DENO ?? 'deno', 'run', '--allow-all', '--node-modules-dir=manual'],
}

describe.each(Object.entries(runtimes))('%s', (_name, [program, ...args]) => {
  it.skipIf(spawnSync(program, ['--version']).status !== 0)(
    'runs every case, without a warning',
    {
      timeout: 120_000,
    },
    () => {
      const { stdout, stderr } = spawnSync(program, [...args, cases], {
        encoding: 'utf8',
        timeout: 110_000,
      })
      const lines = stdout.trimEnd().split('\n')
      expect(lines.filter((line) => !line.startsWith('ok '))).toEqual(['end'])
      expect(lines.length).toBeGreaterThan(60)
      // Without the end.
      expect(page).toContain(`has ${lines.length - 1} cases`)
      expect(stderr).not.toMatch(/warning/i)
    },
  )
})
