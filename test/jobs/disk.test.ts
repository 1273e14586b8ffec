/** Full and read-only disks, for jobs and their bodies. */

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bulk, mb } from './bulk.ts'
import { folder, jsonOf, start } from './harness.ts'
import { openStore, until } from './stores.ts'

/** Mounts a file system of at most so many bytes until the test is over. Undefined where that is not allowed. */
function smallDisk(size: string): { readonly path: string; freeze(): void } | undefined {
  const path = folder()
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', path]).status !== 0)
    return undefined
  onTestFinished(() => void spawnSync('umount', ['--lazy', path]))
  const freeze = () => expect(spawnSync('mount', ['-o', 'remount,ro', path]).status).toBe(0)
  return { path, freeze }
}

describe.skipIf(!isBuiltin('node:sqlite'))('a disk for jobs', () => {
  it('that is full or read-only gets large bodies refused with 507, and takes small ones elsewhere', async (test) => {
    const disk = smallDisk('1m')
    if (disk === undefined) return test.skip()
    const file = join(folder(), 'jobs.db')
    const jobs = { store: `sqlite:${file}`, blobs: disk.path }
    const { post, log } = await start('node', bulk, {}, { jobs }, file)
    const submit = (size: number) => post('/bulk', '1'.padEnd(size), { prefer: 'respond-async' })
    const refused = {
      code: 'insufficient_storage',
      detail: 'the folder of large bodies is full or read-only',
    }
    const full = await submit(2 * mb)
    expect([full.status, await jsonOf(full)]).toMatchObject([507, refused])
    expect(readdirSync(disk.path)).toEqual([])
    disk.freeze()
    const frozen = await submit(2 * mb)
    expect([frozen.status, await jsonOf(frozen)]).toMatchObject([507, refused])
    expect(log()).toMatch(/ENOSPC.*EROFS/s)
    expect((await submit(1_000)).status).toBe(202)
  })

  it('that is full gets jobs refused with 507', async (test) => {
    const disk = smallDisk('1m')
    if (disk === undefined) return test.skip()
    const { post, get } = await start('node', bulk, {}, {}, join(disk.path, 'jobs.db'))
    const submit = () => post('/bulk', '1'.padEnd(200_000), { prefer: 'respond-async' })
    const refused = await until(async () => {
      const answer = await submit()
      return answer.status !== 202 && answer
    })
    expect([refused.status, (await jsonOf(refused)).code]).toEqual([507, 'insufficient_storage'])
    expect((await get('/readyz')).status).toBe(503)
  })

  it('that is read-only is told at the start', async (test) => {
    const disk = smallDisk('1m')
    if (disk === undefined) return test.skip()
    const path = join(disk.path, 'jobs.db')
    await (await openStore({ kind: 'sqlite', path })).close()
    disk.freeze()
    await expect(openStore({ kind: 'sqlite', path })).rejects.toThrow(
      /jobs\.db cannot be opened: EROFS/,
    )
  })
})
