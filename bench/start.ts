/**
 * What starting a built service takes, and what its processes hold once they are idle, beside a bare Node, after
 * `npm run build`: `npx tsx --tsconfig bench/tsconfig.json bench/start.ts [rounds=5] [folder]`.
 *
 * The folder is that of `serving build`, by default one of `servers/echo.mjs`. CPU is that of both processes until the
 * first answer, memory the proportional set size two seconds later. Needs Linux.
 * @module
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { newFolder, newProject, root } from '../test/project.ts'
import { freePort } from './peers/start.ts'
import { familyOf, usageOfTree } from './usage.ts'

const [rounds = '5', given] = process.argv.slice(2)
const scratch = newFolder({})
const stdio = 'ignore'
const env = { ...process.env, NODE_ENV: 'production' }

function build(): string {
  // Of the engine: where the newer package of it does not load, the older one does.
  const config = { service: './service.mjs', build: { packages: ['uws-pack'] } }
  const project = newProject({
    'package.json': '{"name":"start","type":"module"}',
    'serving.config.json': JSON.stringify(config),
    'service.mjs': readFileSync(join(root, 'bench/servers/echo.mjs'), 'utf8'),
  })
  const command = [join(root, 'dist/cli/main.js'), 'build', '--out', join(scratch, 'build')]
  execFileSync(process.execPath, command, { cwd: project })
  rmSync(project, { recursive: true })
  return join(scratch, 'build')
}

const pssOf = (pid: number) =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024

async function isAnswered(url: string): Promise<boolean> {
  const headers = { 'content-type': 'application/json' }
  const ask = fetch(url, { method: 'POST', headers, body: '[[1,2,3,4]]' })
  return await ask.then(({ ok }) => ok).catch(() => false)
}

/** Returns CPU in milliseconds, and megabytes of a bare Node, the supervisor and its worker. */
async function round(folder: string): Promise<readonly number[]> {
  const port = await freePort()
  const options = ['--port', port, '--host', '127.0.0.1', '--workers', '1']
  const bare = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio, env })
  const started = performance.now()
  const server = spawn(process.execPath, [join(folder, 'main.js'), ...options], { stdio, env })
  const gone = Promise.all([once(bare, 'exit'), once(server, 'exit')])
  try {
    while (!(await isAnswered(`http://127.0.0.1:${port}/ndarray`))) await wait(2)
    const cpuMs = usageOfTree(server.pid as number).cpuMicros / 1000
    const wallMs = performance.now() - started
    const bareMs = usageOfTree(bare.pid as number).cpuMicros / 1000
    await wait(2000)
    const pids = [bare.pid as number, ...familyOf(server.pid as number)]
    return [wallMs, cpuMs, bareMs, ...pids.map(pssOf)]
  } finally {
    bare.kill()
    server.kill()
    await gone
  }
}

try {
  const folder = given ?? build()
  const results: (readonly number[])[] = []
  for (let i = 0; i < Number(rounds); i++) results.push(await round(folder))
  const names = [
    'first answer, ms',
    'CPU, ms',
    'CPU of bare, ms',
    'bare, MB',
    'supervisor, MB',
    'worker, MB',
  ]
  for (const [i, name] of names.entries()) {
    const sorted = results.map((result) => result[i]).sort((a, b) => a - b)
    const [least = 0, median = 0] = [sorted[0], sorted[Math.floor(sorted.length / 2)]]
    console.log(`${name}: ${median.toFixed(0)}, at least ${least.toFixed(0)}`)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
