/**
 * Backup, restore and upgrade of a store on SQLite, by the lines of docs/deploy/jobs-backup.md. The stores of older
 * versions are in test/fixtures/jobs, which make.sh made by their sources.
 */
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { io, type Service } from '../../src/index.ts'
import { root } from '../cli/process.ts'
import { codeBlocks } from '../docs/markdown.ts'
import { folder, type Served, start } from './harness.ts'

const fixtures = join(root, 'test/fixtures/jobs')
const [backUp, restore] = codeBlocks('docs/deploy/jobs-backup.md').map(({ code }) => code)

const text = { input: new io.Text(), output: new io.Text(), async: true } as const
/** The APIs of make-store.mjs. What ran when the store was copied ends here. */
function define(svc: Service): void {
  svc.api({ name: 'shout', ...text }, (words: string) => words.slice(0, 20).toUpperCase())
  svc.api({ name: 'refuse', ...text }, () => 'works')
  svc.api({ name: 'wait', ...text }, (words: string) => `${words}, and again`)
}

/** Runs lines of the page in a folder, where `serving` is the built command, and returns what they print. */
async function runLines(lines: string, cwd: string): Promise<string> {
  const command = `serving() { '${process.execPath}' '${join(root, 'dist/cli/main.js')}' "$@"; }`
  const { stdout } = await promisify(execFile)('bash', ['-euc', `${command}\n${lines}`], { cwd })
  return stdout
}

/** The jobs that `serving jobs list` printed: id by API and first status. */
function listed(output: string): readonly (readonly [id: string, api: string, status: string])[] {
  const rows = output.trimEnd().split('\n').slice(1)
  return rows.map((row) => row.split(/ +/) as [string, string, string])
}

/** Unpacks what a version left: the file, and the blobs beside it. */
function unpack(version: string, cwd: string): void {
  for (const name of readdirSync(fixtures).filter((each) => each.startsWith(`${version}.`))) {
    const plain = name.slice(version.length + 1, -'.gz'.length)
    const path = join(cwd, plain === 'db' ? 'jobs.db' : join('jobs.db.blobs', plain))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, gunzipSync(readFileSync(join(fixtures, name))))
  }
}

const resultOf = async ({ result }: Served, id: string) => {
  const answer = await result(`/jobs/${id}`)
  return [answer.status, await answer.text()]
}

describe.skipIf(!isBuiltin('node:sqlite'))('a store on SQLite', () => {
  it.each(['v1', 'v2'])('of %s is restored and upgraded with all its jobs', async (version) => {
    const cwd = folder()
    unpack(version, join(cwd, 'backup'))
    const jobs = listed(await runLines(restore, cwd))
    expect(jobs.map(([, ...rest]) => rest.slice(0, 2))).toEqual([
      ['shout', 'queued'],
      ['shout', 'queued'],
      ['wait', 'queued'],
      ['refuse', 'failed'],
      ['shout', 'completed'],
    ])
    const served = await start('node', define, {}, {}, join(cwd, 'jobs.db'))
    const [blob, small, killed, failed, done] = jobs.map(([id]) => id)
    expect(await resultOf(served, done)).toEqual([200, 'DONE BEFORE'])
    expect(await resultOf(served, failed)).toEqual([500, expect.stringContaining('function_error')])
    expect(await resultOf(served, small)).toEqual([200, 'WAITS'])
    expect(await resultOf(served, blob)).toEqual([200, 'A BLOB A BLOB A BLOB'])
    expect(await resultOf(served, killed)).toEqual([200, 'runs at the kill, and again'])
    const again = await served.submit('/shout', 'waits', { 'idempotency-key': 'once' })
    expect(again).toBe(`/jobs/${small}`)
    const retried = await served.post(`/jobs/${failed}/retry`)
    expect(retried.status).toBe(202)
    const { id } = (await retried.json()) as { id: string }
    expect(await resultOf(served, id)).toEqual([200, 'works'])
  })

  it.skipIf(spawnSync('sqlite3', ['--version']).status !== 0)(
    'is copied while it is served, and has its jobs after a restore',
    async () => {
      const cwd = folder()
      const served = await start('node', define, {}, {}, join(cwd, 'jobs.db'))
      const paths = [
        await served.submit('/shout', 'small'),
        await served.submit('/shout', 'a blob '.repeat(200_000)),
      ]
      const answers = ['SMALL', 'A BLOB A BLOB A BLOB']
      for (const [i, path] of paths.entries())
        expect(await (await served.result(path)).text()).toBe(answers[i])
      expect(await runLines(backUp, cwd)).toBe('ok\n')
      await served.listener.close()
      const jobs = listed(await runLines(restore, cwd))
      expect(jobs.map(([id]) => `/jobs/${id}`)).toEqual(paths.toReversed())
      const later = await start('node', define, {}, {}, join(cwd, 'jobs.db'))
      for (const [i, path] of paths.entries())
        expect(await (await later.result(path)).text()).toBe(answers[i])
    },
  )
})
