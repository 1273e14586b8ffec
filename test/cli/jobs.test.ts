import { writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder, root, run, send, serveFile, serving, until } from './process.ts'

const service = join(root, 'test/cli/services/jobs.service.ts')

describe.skipIf(!isBuiltin('node:sqlite'))(
  'a server that submits jobs, a worker that runs them, and serving jobs',
  () => {
    it('share a store', async () => {
      const cwd = folder({})
      const store = ['--job-store', 'sqlite:jobs.db']
      // Its model never loads: no START_FILE.
      const { port } = await serveFile(
        service,
        ['--workers', '1', '--job-role', 'submit', ...store],
        { cwd },
      )
      const submitted = await fetch(`http://localhost:${port}/echo`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain', prefer: 'respond-async' },
        body: 'later',
      })
      expect(submitted.status).toBe(202)
      const { id } = (await submitted.json()) as { id: string }
      const jobs = async (...args: string[]) => {
        const { code, stdout, stderr } = await run(['jobs', ...args, ...store], { cwd })
        return { code, text: `${stdout}${stderr}` }
      }
      expect((await jobs('list')).text).toMatch(new RegExp(`^ID .*\n${id}  echo +queued +0 `))
      const paused = JSON.parse((await jobs('pause', 'echo')).text)
      expect(paused).toMatchObject({ api: 'echo', isPaused: true, counts: { queued: 1 } })
      const metrics = await send(port, '/metrics')
      expect(metrics.body).toContain('serving_jobs_paused{api="echo"} 1')
      const resumed = JSON.parse((await jobs('resume', 'echo')).text)
      expect(resumed).toMatchObject({ api: 'echo', isPaused: false })
      expect(await jobs('drain', '--api', 'echo', '--timeout', '1s')).toEqual({
        code: 1,
        text: 'serving: jobs that are queued or running after 1000 ms: 1\n',
      })

      const file = join(cwd, 'start')
      writeFileSync(file, '')
      const args = ['work', service, '--port', '0', '--workers', '1', ...store]
      const { stdout } = serving(args, { cwd, env: { START_FILE: file } })
      const worker = Number(
        await until(
          () => /^serving jobs at http:\/\/localhost:(\d+) [^\n]*\n$/.exec(stdout())?.[1],
        ),
      )
      expect(await send(worker, '/readyz')).toEqual({ status: 200, body: 'ok\n' })
      expect((await send(worker, '/echo', 'x')).status).toBe(404)

      await until(async () => (await send(port, `/jobs/${id}/result`)).status === 200)
      expect(await send(port, `/jobs/${id}/result`)).toEqual({
        status: 200,
        body: 'later, attempt 1',
      })
      // A synchronous call is a job as well, where no model is.
      expect(await send(port, '/echo', 'now')).toEqual({ status: 200, body: 'now, attempt 1' })

      expect(JSON.parse((await jobs('show', id)).text)).toMatchObject({
        id,
        status: 'completed',
        attempt: 1,
      })
      expect(await jobs('cancel', id)).toEqual({
        code: 1,
        text: `serving: the job ${id} has ended already: it is completed\n`,
      })
      const again = JSON.parse((await jobs('retry', id)).text)
      expect(again).toMatchObject({ retryOf: id, api: 'echo' })
      await until(
        async () => JSON.parse((await jobs('show', again.id)).text).status === 'completed',
      )
      expect(JSON.parse((await jobs('list', '--json', '--limit', '1')).text)).toMatchObject([
        { id: again.id },
      ])
      // By filter, with what they wait for.
      expect((await jobs('purge')).text).toBe(
        'serving: expected which jobs: by API, status, caller or age\n',
      )
      const old = ['purge', '--status', 'completed', '--older', '1h']
      expect((await jobs(...old)).text).toBe('purge: 0 jobs\n')
      expect((await jobs(...old, '--issuer', 'a')).text).toBe(
        'serving: expected a caller beside the issuer\n',
      )
      expect((await jobs('purge', id)).text).toContain('"status": "expired"')
      expect((await jobs('purge', '--api', 'echo', '--newer', '1h')).text).toMatch(
        /^(?:\S+ {2}echo {2}expired\n)+purge: \d+ jobs\n$/,
      )
      expect(await jobs('drain', '--timeout', '20s')).toEqual({
        code: 0,
        text: 'no job is queued or running\n',
      })
      expect(await jobs('show', 'nobody')).toEqual({
        code: 1,
        text: 'serving: there is no job nobody\n',
      })
    })

    it('name a store that is not there', async () => {
      const { code, stderr } = await run(['jobs', 'list', '--job-store', 'sqlite:none.db'], {
        cwd: folder({}),
      })
      expect([code, stderr]).toEqual([
        1,
        'serving: there is no file none.db: --job-store names the store of the service\n',
      ])
    })
  },
)

describe('a worker for jobs', () => {
  it('needs an asynchronous API', async () => {
    const { code, stderr } = await run([
      'work',
      join(root, 'test/cli/services/probe.service.mjs'),
      '--port',
      '0',
    ])
    expect(code).toBe(1)
    expect(stderr).toContain(
      'the service probe has no asynchronous API (async), whose jobs it could run',
    )
  })
})
