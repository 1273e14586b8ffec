import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { checkUwsBinary, findUwsBinary } from '../../src/engine/uws/uws-binary.ts'
import { uwsChecksums } from '../../src/engine/uws/uws-checksums.ts'
import { exportsOf, loadUws } from '../../src/engine/uws/uws-package.ts'

const folder = fileURLToPath(new URL('../../node_modules/uWebSockets.js/dist/bin/', import.meta.url))
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const binaryName = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
const scratch = mkdtempSync(join(tmpdir(), 'serving-supply-'))
afterAll(() => rmSync(scratch, { recursive: true }))

describe('binaries of uWebSockets.js', () => {
  it('are those of the table, all that the framework runs on', () => {
    const found = readdirSync(folder)
      .filter((file) => !/_win32_|_(?:108|120)\.node$/.test(file))
      .map((file) => [file.replace(/^uws_|\.node$/g, ''), sha256(readFileSync(join(folder, file)))])
    expect(uwsChecksums).toEqual(Object.fromEntries(found))
  })

  it.runIf(readdirSync(folder).includes(binaryName))('load when they are known', async () => {
    expect(() => checkUwsBinary()).not.toThrow()
    expect(typeof (await loadUws())).toBe('object')
  })

  it('are refused with their checksum when they are not, unless it is allowed', () => {
    const file = join(scratch, 'uws.node')
    writeFileSync(file, 'another binary')
    const hash = sha256(Buffer.from('another binary'))
    expect(() => checkUwsBinary(undefined, file, sha256(Buffer.of()))).toThrow(
      `its SHA-256 is ${hash}, expected ${sha256(Buffer.of())}; SERVING_UWS_SHA256=${hash} allows it`,
    )
    expect(() => checkUwsBinary(hash.toUpperCase(), file)).not.toThrow()
    expect(() => checkUwsBinary('any', file)).toThrow(hash)
  })

  it('that are refused leave the reason for the choice of the engine', async () => {
    const refused = await loadUws(async () => {
      checkUwsBinary(undefined, fileURLToPath(import.meta.url))
      throw new Error('not reached')
    })
    expect(refused).toMatch(/uws-binaries\.test\.ts is not the binary that this version of serving was made with/)
  })

  it.each(['uWebSockets.js/dist/bin', 'uWebSockets.js', '@uws/uws_linux_x64'])('are found in %s', (folder) => {
    const root = mkdtempSync(join(scratch, 'layout-'))
    for (const each of ['uWebSockets.js', folder]) mkdirSync(join(root, each), { recursive: true })
    writeFileSync(join(root, folder, binaryName), 'binary')
    expect(findUwsBinary([join(scratch, 'absent'), root])).toBe(join(root, folder, binaryName))
  })

  it('that are not there for this version of Node are named', () => {
    const root = mkdtempSync(join(scratch, 'layout-'))
    mkdirSync(join(root, 'uWebSockets.js'))
    expect(() => findUwsBinary([root])).toThrow(`has no binary for Node ${process.version} on ${process.platform}`)
    expect(() => findUwsBinary([root])).toThrow(binaryName)
    expect(findUwsBinary([])).toBeUndefined()
  })

  it('that another Node removed at installation are said to be, where the package had one', () => {
    const root = mkdtempSync(join(scratch, 'layout-'))
    mkdirSync(join(root, 'uWebSockets.js/dist/bin'), { recursive: true })
    const again = 'remove node_modules and run npm install again with this Node'
    expect(() => findUwsBinary([root], 'its checksum')).toThrow(again)
  })

  it.runIf(readdirSync(folder).includes(binaryName))(
    'load from a CommonJS module, as the official package has',
    async () => {
      const file = join(scratch, 'official.cjs')
      writeFileSync(file, `module.exports = (() => require(${JSON.stringify(join(folder, binaryName))}))()`)
      const uws = await loadUws(async () => exportsOf(await import(file)))
      expect(uws).toMatchObject({ App: expect.any(Function), us_listen_socket_close: expect.any(Function) })
    },
  )
})
