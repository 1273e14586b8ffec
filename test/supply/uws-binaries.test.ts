import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { uwsChecksums } from '../../src/engine/uws/uws-checksums.ts'
import {
  checkPackedBinaries,
  checkUwsBinary,
  findUwsBinaries,
  loadUws,
  uwsRemedy,
} from '../../src/engine/uws/uws-package.ts'

const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url))
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
const newest =
  'uWebSockets.js v20.57.0, newer than November 2025, packed by @btc-vision/uwebsockets.js 20.57.0'
const oldest = 'uWebSockets.js v20.44 to v20.50, of 2024, packed by uws-pack 20.0.8'
const scratch = mkdtempSync(join(tmpdir(), 'serving-supply-'))
afterAll(() => rmSync(scratch, { recursive: true }))

/** Makes a package with these files, and returns its folder of modules. */
function packageWith(name: string, ...files: string[]): string {
  const root = mkdtempSync(join(scratch, 'modules-'))
  for (const file of ['package.json', ...files]) {
    mkdirSync(join(root, name, file, '..'), { recursive: true })
    writeFileSync(join(root, name, file), JSON.stringify({ name, version: '1.2.3' }))
  }
  return root
}

describe('binaries of uWebSockets.js', () => {
  it('are those of the table, all that the framework runs on', () => {
    const files = ['uWebSockets.js-20.57', 'uws-pack/dist/bin'].flatMap((folder) =>
      readdirSync(join(modules, folder)).map((file) => join(modules, folder, file)),
    )
    const found = files.filter(
      (file) => /\.node$/.test(file) && !/_win32_|_(?:108|120)\.node$/.test(file),
    )
    expect(uwsChecksums).toEqual(
      Object.fromEntries(found.map((file) => [sha256(readFileSync(file)), basename(file)])),
    )
  })

  it('load, the newest first that this system can, and tell version, age and packer', () => {
    const here = findUwsBinaries()
    expect(here.map(({ origin }) => origin)).toEqual([newest, oldest])
    const { glibcVersionRuntime = '0' } = (
      process.report.getReport() as { header: Record<string, string> }
    ).header
    const hasGlibc = Number(glibcVersionRuntime.split('.')[1]) >= 38
    const expected = hasGlibc || process.platform !== 'linux' ? here[0] : here[1]
    const loaded = loadUws()
    if (expected.file === undefined) {
      expect(loaded).toMatch(/: no uws_|GLIBC_2\.38/)
      expect(loaded).toContain(uwsRemedy())
    } else
      expect(loaded).toMatchObject({ origin: expected.origin, uws: { App: expect.any(Function) } })
  })

  it('are refused with their checksum when they are not known', () => {
    const file = join(scratch, 'uws.node')
    writeFileSync(file, 'another binary')
    const hash = sha256(Buffer.from('another binary'))
    expect(() => checkUwsBinary(file)).toThrow(`made with: its SHA-256 is ${hash}`)
    const text = `${file} is not a binary that this version of serving was made with`
    expect(loadUws([{ file, origin: 'a test', isChosen: false }])).toContain(text)
  })

  it('are compared when a build packs them, and then no more', () => {
    const from = join(scratch, name)
    writeFileSync(from, 'another binary')
    const pack = (packed: string) => () => checkPackedBinaries(packed, [{ from }])
    expect(pack('uws-pack')).toThrow(`${from} is not a binary that`)
    expect(pack('uWebSockets.js-20.57')).toThrow('is not a binary that')
    // The application's own choice, which its lock file holds.
    expect(pack('uWebSockets.js')).not.toThrow()
    vi.stubEnv('SERVING_ENGINE_CHECKED', 'by serving build')
    const reason = loadUws([{ file: from, origin: 'a test', isChosen: false }])
    vi.unstubAllEnvs()
    expect(reason).toContain('a test: ')
    expect(reason).not.toContain('SHA-256')
  })

  it('are refused under the name of another system', () => {
    const known = findUwsBinaries().find(({ file }) => file !== undefined)?.file
    if (known === undefined) return
    const file = join(scratch, 'uws_plan9_x64_1.node')
    writeFileSync(file, readFileSync(known))
    expect(() => checkUwsBinary(file)).toThrow('is not a binary')
  })

  it.each(['dist/bin/', '', '../@uws/uws_linux_x64/'])(
    'are found in %s of the package',
    (folder) => {
      const root = packageWith('uws-pack', `${folder}${name}`)
      const file = join(root, 'uws-pack', folder, name)
      const origin = oldest.replace('20.0.8', '1.2.3')
      expect(findUwsBinaries([join(scratch, 'absent'), root])).toEqual([
        { file, origin, isChosen: false },
      ])
    },
  )

  it("of the application's own uWebSockets.js go first if they load, and need no checksum", () => {
    // A stand-in with the layout of the project's package, which is to be had on GitHub alone.
    const root = packageWith('uWebSockets.js', name, 'uws.js', 'ESM_wrapper.mjs')
    const file = join(root, 'uWebSockets.js', name)
    const roots = [root, modules]
    const [own, ...rest] = findUwsBinaries(roots)
    const origin = 'uWebSockets.js 1.2.3, chosen by the application'
    expect(own).toEqual({ file, origin, isChosen: true })
    expect(rest.map((each) => each.origin)).toEqual([newest, oldest])
    const reason = loadUws([own])
    expect(reason).toContain(`${origin}: `)
    expect(reason).not.toContain('SHA-256')
    // With bytes that load, the reviewed ones: that those of the application were taken shows by the origin.
    const known = rest.find((each) => typeof loadUws([each]) !== 'string')
    if (known?.file === undefined) return
    expect(loadUws(findUwsBinaries(roots))).toMatchObject({ origin: known.origin })
    writeFileSync(file, readFileSync(known.file))
    expect(loadUws(findUwsBinaries(roots))).toMatchObject({ origin, passedOver: [] })
  })

  it('that a package lacks for this Node are named', () => {
    const root = packageWith('uWebSockets.js')
    expect(loadUws(findUwsBinaries([root]))).toContain(
      `uWebSockets.js 1.2.3, chosen by the application: no ${name}; `,
    )
    expect(loadUws([])).toContain('no package of uWebSockets.js is installed; ')
  })
})

it.runIf(process.platform === 'linux').each([
  ['115', 41, 'run npm ci'],
  ['137', 38, 'run npm ci'],
  ['115', 36, 'run npm install uws-pack@20.0.8'],
  ['127', 34, 'run npm install uws-pack@20.0.8'],
  ['147', 41, 'run npm install uNetworking/uWebSockets.js#v20.69.0'],
  ['147', 36, 'use a system with glibc 2.38, such as Debian 13 or Ubuntu 24.04'],
  ['137', 36, 'use a system with glibc 2.38, such as Debian 13 or Ubuntu 24.04'],
  ['127', 17, 'use a system with glibc 2.38, such as Debian 13 or Ubuntu 24.04'],
  ['999', 41, 'use Node 22 or 24'],
  ['115', undefined, 'no package has a binary for musl: use Debian 13'],
])('the engine for Node with ABI %s and glibc 2.%s: %s', (abi, glibc, remedy) => {
  expect(uwsRemedy(abi, glibc ?? null)).toBe(remedy)
})
