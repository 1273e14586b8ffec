/**
 * Jobs over HTTP: `tsx --tsconfig bench/tsconfig.json bench/micro/jobs-http.ts` on Node 22.13 or later, with
 * redis-server in the PATH and `arq` and `redis` in the environment of FastAPI. 64 callers submit 1 KB each while a
 * worker runs the jobs. Prints submissions a second, jobs that ended a second, and CPU a job of servers and workers.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasRedis, redisServer } from '../../test/jobs/redis-server.ts'
import { findPython } from '../peers/python.ts'
import { type PeerServer, startPeer } from '../peers/start.ts'
import { onCore, serverCore } from '../pinning.ts'
import { usageOfTree } from '../usage.ts'

const jobs = 4_000
const callers = 64
const body = 'x'.repeat(1_024)
const root = fileURLToPath(new URL('../..', import.meta.url))
const agent = new Agent({ keepAlive: true, maxSockets: callers })

interface Answer {
  readonly status: number | undefined
  readonly location: string
  readonly text: string
}

function send(url: string, method: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'text/plain', prefer: 'respond-async' }
    const sent = request(url, { method, agent, headers }, async (response) => {
      let text = ''
      for await (const piece of response.setEncoding('utf8')) text += piece
      resolve({ status: response.statusCode, location: response.headers.location ?? '', text })
    })
    sent.on('error', reject).end(method === 'POST' ? body : undefined)
  })
}

async function measure(name: string, start: () => Promise<PeerServer[]>): Promise<void> {
  const servers = await start()
  const [{ url }] = servers
  const cpu = () => servers.reduce((sum, { pid }) => sum + usageOfTree(pid).cpuMicros, 0)
  const ids: string[] = []
  const [cpuBefore, began] = [cpu(), performance.now()]
  const caller = async (first: number) => {
    for (let i = first; i < jobs; i += callers) {
      const { status, location, text } = await send(`${url}/echo`, 'POST')
      if (status !== 202) throw new Error(`${name}: expected 202, received ${status}: ${text}`)
      ids.push(location)
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, first) => caller(first)))
  const submitted = performance.now()
  for (const id of ids) while (!(await send(url + id, 'GET')).text.includes('"completed"'));
  const ended = performance.now()
  const perSecond = (end: number) => String(Math.round((jobs * 1_000) / (end - began))).padStart(6)
  const cpuEach = Math.round((cpu() - cpuBefore) / jobs)
  console.log(
    `${name.padEnd(20)} ${perSecond(submitted)} submitted/s ${perSecond(ended)} ended/s ${cpuEach} µs CPU a job`,
  )
  for (const { stop } of servers) await stop()
}

function serving(store: string): Promise<PeerServer> {
  const args = [
    'dist/cli/main.js',
    'serve',
    'bench/jobs.service.ts',
    '--workers',
    '1',
    '--job-store',
    store,
  ]
  return startPeer({
    name: 'serving',
    program: process.execPath,
    args: (port) => [...args, '--port', port, '--host', '127.0.0.1'],
    cwd: root,
    health: '/readyz',
  })
}

async function fastapi(redis: string): Promise<PeerServer[]> {
  const cwd = fileURLToPath(new URL('../peers/python', import.meta.url))
  const { python, missing } = findPython('fastapi')
  if (missing !== undefined) throw new Error(`fastapi: ${missing}`)
  const env = async () => ({ REDIS_URL: redis })
  const api = ['-m', 'uvicorn', 'jobs_app:app', '--host', '127.0.0.1', '--no-access-log', '--port']
  const health = '/openapi.json'
  const server = await startPeer({
    name: 'fastapi',
    program: python,
    args: (port) => [...api, port],
    cwd,
    health,
    env,
  })
  const variables = { ...process.env, REDIS_URL: redis }
  const args = ['-m', 'arq', 'jobs_app.WorkerSettings']
  const worker = spawn(...onCore(serverCore, python, args), {
    cwd,
    env: variables,
    stdio: 'ignore',
  })
  const stop = async () => void worker.kill()
  return [server, { ...server, pid: worker.pid as number, stop }]
}

const folder = mkdtempSync(join(tmpdir(), 'serving-bench-'))
await measure('serving, SQLite', async () => [await serving(`sqlite:${join(folder, 'jobs.db')}`)])
rmSync(folder, { recursive: true })
if (hasRedis) {
  const redis = await redisServer()
  await measure('serving, Redis', async () => [await serving(redis.url)])
  await measure('FastAPI and arq', () => fastapi(redis.url))
  await redis.stop()
}
agent.destroy()
