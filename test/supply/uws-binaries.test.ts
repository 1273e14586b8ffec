import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { uwsChecksums } from '../../src/engine/uws/uws-checksums.ts'
import { checkUwsBinary, findUwsBinaries, loadUws } from '../../src/engine/uws/uws-package.ts'

const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url))
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
const scratch = mkdtempSync(join(tmpdir(), 'serving-supply-'))
afterAll(() => rmSync(scratch, { recursive: true }))

/** Makes a package with these files, and returns its folder of modules. */
function packageWith(name: string, ...files: string[]): string {
  const root = mkdtempSync(join(scratch, 'modules-'))
  for (const file of ['package.json', ...files]) {
    mkdirSync(join(root, name, file, '..'), { recursive: true })
    writeFileSync(join(root, name, file), '{ "version": "1.2.3" }')
  }
  return root
}

describe('binaries of uWebSockets.js', () => {
  it('are those of the table, all that the framework runs on', () => {
    const files = ['uWebSockets.js-20.57', 'uWebSockets.js/dist/bin'].flatMap((folder) =>
      readdirSync(join(modules, folder)).map((file) => join(modules, folder, file)),
    )
    const found = files.filter((file) => /\.node$/.test(file) && !/_win32_|_(?:108|120)\.node$/.test(file))
    expect(uwsChecksums).toEqual(Object.fromEntries(found.map((file) => [sha256(readFileSync(file)), basename(file)])))
  })

  it('load, the newest first that this system can', () => {
    const here = findUwsBinaries()
    expect(here.map(({ origin }) => origin)).toEqual(
      ['uWebSockets.js-20.57 20.57.0', 'uWebSockets.js 20.0.8'].slice(0, here.length),
    )
    const { glibcVersionRuntime = '0' } = (process.report.getReport() as { header: Record<string, string> }).header
    const hasGlibc = Number(glibcVersionRuntime.split('.')[1]) >= 38
    const [newest, oldest] = here
    const expected = hasGlibc || process.platform !== 'linux' ? newest : oldest
    if (expected === undefined) expect(loadUws()).toMatch(newest === undefined ? /no package here/ : /GLIBC_2\.38/)
    else expect(loadUws()).toMatchObject({ origin: expected.origin, uws: { App: expect.any(Function) } })
  })

  it('are refused with their checksum when they are not known, unless it is allowed', () => {
    const file = join(scratch, 'uws.node')
    writeFileSync(file, 'another binary')
    const hash = sha256(Buffer.from('another binary'))
    expect(() => checkUwsBinary(file)).toThrow(`its SHA-256 is ${hash}; SERVING_UWS_SHA256=${hash} allows it`)
    expect(() => checkUwsBinary(file, hash.toUpperCase())).not.toThrow()
    expect(() => checkUwsBinary(file, 'any')).toThrow(hash)
    const text = `${file} is not a binary that this version of serving was made with`
    expect(loadUws([{ file, origin: 'a test' }])).toContain(text)
  })

  it('are refused under the name of another system', () => {
    const [known] = findUwsBinaries()
    if (known === undefined) return
    const file = join(scratch, 'uws_plan9_x64_1.node')
    writeFileSync(file, readFileSync(known.file))
    expect(() => checkUwsBinary(file)).toThrow('is not a binary')
  })

  it.each(['dist/bin/', '', '../@uws/uws_linux_x64/'])('are found in %s of the package', (folder) => {
    const root = packageWith('uWebSockets.js', `${folder}${name}`)
    const file = join(root, 'uWebSockets.js', folder, name)
    expect(findUwsBinaries([join(scratch, 'absent'), root])).toEqual([{ file, origin: 'uWebSockets.js 1.2.3' }])
  })

  it('that are not there are named, and how to get them if there are some for this version of Node', () => {
    const remedy = Object.values(uwsChecksums).includes(name)
      ? 'if another version of Node installed the packages, install them again with this one'
      : 'the packages that serving installs have none for it'
    const reason = `no package here has a binary for Node ${process.version} (${name}); ${remedy}`
    expect(loadUws(findUwsBinaries([packageWith('uWebSockets.js')]))).toBe(reason)
  })
})
