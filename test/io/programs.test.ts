/** The programs of docs/guide/frameworks.md, each where its host is there. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { POST } from '../../docs/snippets/io/next-route.ts'
import { folder, root } from '../cli/process.ts'
import { freePort } from './free-port.ts'
import { startWorker, workerd } from './workerd.ts'

const snippets = fileURLToPath(new URL('../../docs/snippets/io/', import.meta.url))
const tsx = fileURLToPath(new URL('../../node_modules/tsx/dist/cli.mjs', import.meta.url))
const runtimes: Readonly<Record<string, readonly string[]>> = {
  'bun.ts': [process.env.BUN ?? 'bun'],
  'deno.ts': [process.env.DENO ?? 'deno', 'run', '--allow-all'],
  'worker.ts': [workerd],
}
const files = readdirSync(snippets).filter(
  (file) => !['scale.ts', 'next-route.ts', 'next-config.ts'].includes(file),
)

/** Returns a project with the programs, the built package and the frameworks. */
function project(): string {
  const texts = readdirSync(snippets).map((file) => [
    file,
    readFileSync(`${snippets}${file}`, 'utf8'),
  ])
  const path = folder(
    { ...Object.fromEntries(texts), 'package.json': '{ "type": "module" }' },
    true,
  )
  mkdirSync(`${path}/node_modules/@hono`)
  for (const name of ['express', 'fastify', 'koa', 'hono', 'h3', '@hono/node-server']) {
    symlinkSync(`${root}/node_modules/${name}`, `${path}/node_modules/${name}`, 'dir')
  }
  return path
}

/** Asks until the program listens. */
async function ask(url: string, body: string, child: ChildProcess): Promise<Response> {
  for (;;) {
    try {
      return await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
    } catch (error) {
      if (child.exitCode !== null) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

describe('the programs of the page about frameworks', () => {
  it.each(files)('%s answers arrays and refuses others', async (file) => {
    const [program, ...args] = runtimes[file] ?? [process.execPath, tsx]
    if (spawnSync(program, ['--version']).status !== 0) return
    const port = await freePort()
    const env = { ...process.env, PORT: String(port) }
    const start = () =>
      spawn(program, [...args, file], {
        cwd: project(),
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    const child =
      file === 'worker.ts' ? await startWorker(`docs/snippets/io/${file}`, port) : start()
    try {
      const url = `http://127.0.0.1:${port}/scale`
      expect(await (await ask(url, '[[1,2.5]]', child)).text()).toBe('[[2.0,5.0]]')
      const wrong = await ask(url, '[[1,2,3]]', child)
      expect([wrong.status, await wrong.json()]).toMatchObject([
        400,
        { code: 'bad_input', reason: 'shape' },
      ])
    } finally {
      child.kill()
    }
  })

  it('a route of Next answers arrays', async () => {
    const headers = { 'content-type': 'application/json' }
    const request = new Request('http://localhost/scale', {
      method: 'POST',
      body: '[[1,2.5]]',
      headers,
    })
    expect(await (await POST(request)).text()).toBe('[[2.0,5.0]]')
  })

  it('all have at most 30 lines, and stand on the page', () => {
    const page = readFileSync(new URL('../../docs/guide/frameworks.md', import.meta.url), 'utf8')
    for (const file of readdirSync(snippets)) {
      expect(page).toContain(`<<< @/snippets/io/${file}`)
      expect(readFileSync(`${snippets}${file}`, 'utf8').split('\n').length).toBeLessThanOrEqual(31)
    }
  })
})
