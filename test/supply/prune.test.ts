import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('../../native/prune.mjs', import.meta.url))
const { unused }: { unused: (names: string[], system: string, abi: number) => string[] } =
  await import(script)
const scratch = mkdtempSync(join(tmpdir(), 'serving-prune-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const names = ['108', '115', '127'].flatMap((abi) =>
  ['linux_x64', 'linux_arm64', 'linux_arm', 'win32_x64'].map(
    (system) => `uws_${system}_${abi}.node`,
  ),
)
const kept = (system: string, abi: number) =>
  names.filter((name) => !unused(names, system, abi).includes(name))

describe('binaries of uWebSockets.js', () => {
  it('stay for this system, for this Node and newer ones', () => {
    expect(kept('linux_x64', 115)).toEqual(['uws_linux_x64_115.node', 'uws_linux_x64_127.node'])
    expect(kept('linux_arm64', 127)).toEqual(['uws_linux_arm64_127.node'])
  })

  it('of the newest Node stay where this one is newer still', () => {
    expect(kept('linux_x64', 137)).toEqual(['uws_linux_x64_127.node'])
  })

  it('stay none where there is none for this system, and nothing else goes', () => {
    expect(kept('freebsd_x64', 127)).toEqual([])
    expect(unused(['index.mjs', 'uws_linux_x64_127.node', 'LICENSE'], 'linux_arm64', 127)).toEqual([
      'uws_linux_x64_127.node',
    ])
  })

  it('are removed where serving is installed, as are our own for others; not in a clone, and not when told so', () => {
    const addons = ['linux-x64', 'linux-x64-musl', 'linux-arm64', 'linux-arm64-musl', 'plan9-mips']
    const install = (folder: string, env: NodeJS.ProcessEnv = {}) => {
      const bin = join(scratch, folder, 'uws-pack', 'dist', 'bin')
      const native = join(scratch, folder, 'serving', 'native')
      mkdirSync(bin, { recursive: true })
      for (const name of names) writeFileSync(join(bin, name), name)
      const newer = join(scratch, folder, 'uWebSockets.js-20.57')
      mkdirSync(newer, { recursive: true })
      for (const name of names) writeFileSync(join(newer, name), name)
      for (const target of addons) {
        mkdirSync(join(native, 'prebuilds', target), { recursive: true })
        writeFileSync(join(native, 'prebuilds', target, 'serving_native.node'), '')
      }
      writeFileSync(join(native, 'prebuilds', 'sources.txt'), '')
      const program = join(native, 'prune.mjs')
      cpSync(script, program)
      const output = execFileSync(process.execPath, [program], {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      })
      const left = addons.filter((target) =>
        existsSync(join(native, 'prebuilds', target, 'serving_native.node')),
      )
      expect(existsSync(join(native, 'prebuilds', 'sources.txt'))).toBe(true)
      return { output, left: readdirSync(bin).length + readdirSync(newer).length, addons: left }
    }
    const { output, left, addons: kept } = install('node_modules')
    expect(left).toBeLessThanOrEqual(6)
    expect(kept).toEqual(
      addons.filter((target) => target.startsWith(`${process.platform}-${process.arch}`)),
    )
    const removed = 2 * names.length - left + addons.length - kept.length
    expect(output).toContain(`serving: ${removed} binaries for other systems removed`)
    const whole = { output: '', left: 2 * names.length, addons }
    expect(install('node_modules', { SERVING_PRUNE: 'off' })).toEqual(whole)
    expect(install('clone')).toEqual(whole)
  })
})
