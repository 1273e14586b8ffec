/** What a service without jobs loads of them. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { folder } from './harness.ts'

const program = fileURLToPath(new URL('./loaded.ts', import.meta.url))

/** What others share with jobs: names, shapes and ids. */
const shared = ['job-answers', 'job-kind', 'job-query', 'job', 'new-job', 'stored-body']

async function filesOf(file: string, ...args: string[]): Promise<readonly string[]> {
  const child = fork(program, [file, ...args], { execArgv: ['--import', 'tsx'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [files] = await once(child, 'message')
  return files as readonly string[]
}

it.skipIf(!isBuiltin('node:sqlite'))(
  'a service without jobs loads no code that keeps or runs them, and opens no store',
  async () => {
    const file = join(folder(), 'jobs.db')
    expect(await filesOf(file)).toEqual(shared.map((name) => `jobs/${name}.ts`))
    expect(existsSync(file)).toBe(false)
    expect(await filesOf(file, 'async')).toContain('jobs/sqlite/sqlite-store.ts')
    expect(existsSync(file)).toBe(true)
  },
  60_000,
)
