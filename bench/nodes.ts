/**
 * What a request costs on different versions of Node and on both engines: CPU time of the whole served process tree per
 * request of the Iris example, 16 connections of wrk, in turn, the median of the rounds.
 *
 * `npx tsx --tsconfig bench/tsconfig.json bench/nodes.ts NODE...`, commands that run a Node: the path of an executable,
 * or `"scripts/in-system.sh trixie 24 node"` for Node 24 on a newer glibc. The running one is the first. Options:
 * `--seconds N`, `--rounds N`. Needs `npm run build`, Linux and wrk.
 * @module
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { wrk } from './load/wrk.ts'
import { usageOfTree } from './usage.ts'

const options = {
  seconds: { type: 'string', default: '2' },
  rounds: { type: 'string', default: '5' },
} as const
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const root = fileURLToPath(new URL('..', import.meta.url))

interface Running {
  readonly name: string
  readonly process: ChildProcess
  readonly port: number
  readonly micros: number[]
}

async function start(node: string, engine: string, port: number): Promise<Running | undefined> {
  const [command, ...first] = node.split(' ')
  const version = execFileSync(command, [...first, '--version'], {
    encoding: 'utf8',
    cwd: root,
  }).trim()
  const name = `Node ${version} ${engine}`
  const args = [
    ...first,
    'dist/cli/main.js',
    'serve',
    'examples/iris/service.ts',
    '--workers',
    '1',
    '--engine',
    engine,
  ]
  const child = spawn(command, [...args, '--host', '127.0.0.1', '--port', String(port)], {
    cwd: root,
    stdio: 'ignore',
  })
  for (let tries = 0; tries < 150 && child.exitCode === null; tries++) {
    const isReady = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return { name, process: child, port, micros: [] }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  child.kill('SIGKILL')
  console.log(`${name}: does not start`)
  return undefined
}

const folder = mkdtempSync(join(tmpdir(), 'bench-nodes-'))
const bodyFile = join(folder, 'body.json')
writeFileSync(bodyFile, '[[5.1,3.5,1.4,0.2],[6.7,3.0,5.2,2.3]]')

async function measure({ process, port, micros }: Running): Promise<void> {
  const before = usageOfTree(process.pid as number).cpuMicros
  const { requests, errors } = await wrk({
    url: `http://127.0.0.1:${port}/classify`,
    contentType: 'application/json',
    headers: {},
    bodyFile,
    connections: 16,
    seconds: Number(values.seconds),
  })
  if (errors > 0) throw new Error(`${errors} errors on port ${port}`)
  micros.push((usageOfTree(process.pid as number).cpuMicros - before) / requests)
}

const nodes = [process.execPath, ...positionals]
const servers: Running[] = []
try {
  for (const [i, node] of nodes.entries()) {
    for (const [j, engine] of ['uws', 'node'].entries()) {
      const server = await start(node, engine, 28_000 + i * 2 + j)
      if (server !== undefined) servers.push(server)
    }
  }
  for (const server of servers) await measure(server)
  for (const server of servers) server.micros.length = 0
  for (let round = 0; round < Number(values.rounds); round++)
    for (const server of servers) await measure(server)
  for (const { name, micros } of servers) {
    const sorted = micros.sort((a, b) => a - b)
    console.log(`${name}: ${sorted[sorted.length >> 1].toFixed(1)} µs of CPU per request`)
  }
} finally {
  for (const server of servers) server.process.kill('SIGTERM')
  rmSync(folder, { recursive: true })
}
