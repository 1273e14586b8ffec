/**
 * 100,000 embeddings as one job of rows, beside the same calls made by 64 callers: `tsx --tsconfig
 * bench/tsconfig.json bench/micro/rows.ts [ROWS] [TURNS] [STORE]` after `npm run build`, on Node 22.13 or later. Prints
 * rows a second of both, in turns, CPU of the server a row, and the bytes of results and of the store. A job is over
 * when it says so; then its result is read, which the last column counts, too. With `BENCH_PIN=off` the server has all
 * cores, as it mostly does, and the callers share them.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPeer } from '../peers/start.ts'
import { usageOfTree } from '../usage.ts'

const [count = '100000', turns = '2', given] = process.argv.slice(2)
const total = Number(count)
const callers = 64
const folder = mkdtempSync(join(tmpdir(), 'serving-bench-'))
const store = given ?? `sqlite:${join(folder, 'jobs.db')}`
const agent = new Agent({ keepAlive: true, maxSockets: callers })
const texts = Array.from({ length: total }, (_, i) => `text ${i}: what a caller would like to find`)

const root = fileURLToPath(new URL('../..', import.meta.url))
const args = ['dist/cli/main.js', 'serve', 'bench/rows.service.ts', '--workers', '1']
const server = await startPeer({
  name: 'serving',
  program: process.execPath,
  args: (port) => [...args, '--job-store', store, '--port', port, '--host', '127.0.0.1'],
  cwd: root,
  health: '/readyz',
})

function ask(path: string, method: string, headers = {}, body?: string) {
  return new Promise<{ location: string; bytes: number; text: string }>((resolve, reject) => {
    const sent = request(server.url + path, { method, agent, headers }, async (response) => {
      const pieces: Buffer[] = []
      let bytes = 0
      for await (const piece of response) {
        bytes += piece.length
        // A client would write more to a file.
        if (bytes < 1e6) pieces.push(piece)
      }
      const status = response.statusCode ?? 0
      const text = Buffer.concat(pieces).toString()
      if (status >= 300) reject(new Error(`${method} ${path}: ${status} ${text}`))
      resolve({ location: response.headers.location ?? '', bytes, text })
    })
    sent.on('error', reject).end(body)
  })
}

/** Prints rows a second, and CPU, of each part from the start of the first one on. */
async function measure(name: string, ...parts: (() => Promise<void>)[]): Promise<void> {
  const cpu = usageOfTree(server.pid).cpuMicros
  const began = performance.now()
  const figures: string[] = []
  for (const part of parts) {
    await part()
    const rate = Math.round((total / (performance.now() - began)) * 1_000)
    const each = (usageOfTree(server.pid).cpuMicros - cpu) / total
    figures.push(`${String(rate).padStart(6)} rows/s ${each.toFixed(0)} µs CPU a row`)
  }
  console.log(name.padEnd(12), figures.join(', with its result'))
}

const direct = async () => {
  const caller = async (first: number) => {
    for (let i = first; i < total; i += callers)
      await ask('/embed', 'POST', { 'content-type': 'text/plain' }, texts[i])
  }
  await Promise.all(Array.from({ length: callers }, (_, first) => caller(first)))
}

let location = ''
const asJob = async () => {
  const headers = { 'content-type': 'application/jsonl', prefer: 'respond-async; rows' }
  ;({ location } = await ask('/embed', 'POST', headers, texts.join('\n')))
  for (let isOver = false; !isOver; ) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    isOver = (await ask(location, 'GET')).text.includes('"completed"')
  }
}
const readResult = async () => {
  const { bytes } = await ask(`${location}/result`, 'GET')
  const kilobytes = execFileSync('du', ['-sk', folder]).toString().split('\t')[0]
  console.log(`result ${bytes} bytes, folder of the store ${Number(kilobytes) * 1024} bytes`)
}

for (let round = 0; round < Number(turns); round++) {
  await measure('64 callers', direct)
  await measure('one job', asJob, readResult)
}
await server.stop()
agent.destroy()
rmSync(folder, { recursive: true })
