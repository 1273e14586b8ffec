/**
 * Reloads a server again and again, on both engines: no request may fail, neither of wrk, which keeps its connections,
 * nor of clients that open a connection for each request.
 *
 * Run: `npm run build && npx tsx test/soak/reload.ts --seconds 20`; `--connections 64`, `--every 3` (seconds between
 * reloads), `--workers 2`, `--engines uws,node`. Needs wrk.
 * @module
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { startCommand } from './start-command.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    connections: { type: 'string', default: '64' },
    every: { type: 'string', default: '3' },
    workers: { type: 'string', default: '2' },
    engines: { type: 'string', default: 'uws,node' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'serving-reload-'))

/** Posts one request over a connection of its own; resolves to what went wrong. */
function postFresh(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' }
    const sent = request({
      port,
      host: '127.0.0.1',
      path: '/classify',
      method: 'POST',
      headers,
      agent: false,
    })
    sent.setTimeout(10_000, () => sent.destroy(new Error('no answer within 10 s')))
    sent.on('error', (error) => resolve(error.message))
    sent.on('response', (response) => {
      response
        .resume()
        .on('end', () =>
          resolve(response.statusCode === 200 ? undefined : `${response.statusCode}`),
        )
    })
    sent.end('[[5.1, 3.5, 1.4, 0.2]]')
  })
}

/** Sends requests over fresh connections, four at a time, until `isOver`; returns how many, and what went wrong. */
async function sendFresh(
  port: number,
  isOver: () => boolean,
): Promise<{ sent: number; faults: string[] }> {
  let sent = 0
  const faults: string[] = []
  const client = async () => {
    while (!isOver()) {
      const fault = await postFresh(port)
      sent++
      if (fault !== undefined) faults.push(fault)
    }
  }
  await Promise.all(Array.from({ length: 4 }, client))
  return { sent, faults }
}

let failed = false
try {
  for (const engine of options.engines.split(',')) {
    const log = join(folder, `${engine}.log`)
    const more = [
      '--port',
      '0',
      '--workers',
      options.workers,
      '--engine',
      engine,
      '--grpc-port',
      '0',
    ]
    const args = ['serve', 'examples/iris/service.ts', ...more]
    const { child: server, port } = await startCommand(args, openSync(log, 'w'))
    const timer = setInterval(() => server.kill('SIGHUP'), Number(options.every) * 1000)
    const wrk = ['-t', '1', '-c', options.connections, '-d', options.seconds, '--timeout', '10']
    const script = fileURLToPath(new URL('reload.lua', import.meta.url))
    let isOver = false
    const fresh = sendFresh(port, () => isOver)
    const { stdout } = await promisify(execFile)('wrk', [
      ...wrk,
      '-s',
      script,
      `http://127.0.0.1:${port}/classify`,
    ])
    isOver = true
    const { sent, faults } = await fresh
    clearInterval(timer)
    server.kill('SIGTERM')
    const [code] = await once(server, 'exit')
    const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
    const errors = stdout.split('\n').filter((line) => /Socket errors|Non-2xx/.test(line))
    const reloads = readFileSync(log, 'utf8').split('"event":"reloaded"').length - 1
    const failures = errors.map((line) => line.trim()).join('; ') || '0 failed'
    const freshFaults = `${sent} over fresh connections, ${faults.length} failed ${[...new Set(faults)].join(', ')}`
    console.log(`${engine}: ${requests} requests, ${reloads} reloads; ${failures}; ${freshFaults}`)
    if (!(requests > 0) || reloads === 0 || errors.length + faults.length > 0 || code !== 0)
      failed = true
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failed ? 1 : 0
