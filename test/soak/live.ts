/**
 * Live streams under clients that harm: broken frames, readers that do not read, floods of messages and pings, halves
 * of sockets, and thousands that connect and drop. Beside them each good stream must get its messages back, and the
 * memory of the worker must be flat.
 *
 * Run: `npm run build && npx tsx test/soak/live.ts`; `--engines uws,node`, `--rounds 5`, `--drops 10000`,
 * `--idle 5000` (streams that stay open, for their memory; needs `ulimit -n`). Linux only: it looks into /proc.
 * @module
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import { childrenOf, descriptorsOf, memory } from '../fuzz/processes.ts'
import { frame, upgradeText } from '../live/frames.ts'

const { values: options } = parseArgs({
  options: {
    engines: { type: 'string', default: 'uws,node' },
    rounds: { type: 'string', default: '5' },
    drops: { type: 'string', default: '10000' },
    idle: { type: 'string', default: '5000' },
  },
})
const root = fileURLToPath(new URL('../../', import.meta.url))
const faults: string[] = []

async function startServer(engine: string) {
  const args = [
    'dist/cli/main.js',
    'serve',
    'test/soak/live.service.ts',
    '--port',
    '0',
    '--host',
    '127.0.0.1',
  ]
  const more = ['--workers', '1', '--engine', engine, '--max-live', '20000', '--log-level', 'fatal']
  const child = spawn(process.execPath, [...args, ...more], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface(child.stdout as Readable)) {
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
    if (port > 0) return { child, port, worker: childrenOf(child.pid as number)[0] }
  }
  throw new Error('the server did not start; is it built?')
}

/** Opens a live stream on a plain socket, which is not read further. */
async function open(
  port: number,
  path = '/echo',
  headers: Record<string, string> = {},
): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(upgradeText(path, headers))
  const [head] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
  if (!String(head).startsWith('HTTP/1.1 101 ')) faults.push(`a stream was not opened: ${head}`)
  socket.pause()
  return socket
}

/** Sends messages one after another; each must come back. */
async function beGood(port: number, until: () => boolean): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/echo`, 'serving.v1')
  socket.on('error', (error) => faults.push(`a good stream failed: ${error.message}`))
  let wake = (_: string) => {}
  socket.on('message', (text) => {
    if (!String(text).startsWith('{"$":')) wake(String(text))
  })
  socket.on('close', (code, reason) => {
    if (!until()) faults.push(`a good stream was closed with ${code} ${reason}`)
    wake('')
  })
  await once(socket, 'open')
  let count = 0
  while (!until() && socket.readyState === WebSocket.OPEN) {
    const text = `message ${count++}`
    const answer = new Promise<string>((resolve) => {
      wake = resolve
    })
    socket.send(text)
    const back = await Promise.race([answer, wait(20_000, 'nothing within 20 s')])
    if (back !== text && !until()) faults.push(`expected ${text}, received ${back}`)
    await wait(5)
  }
  socket.terminate()
  return count
}

/** What harms, for a while each. */
const harms: Readonly<Record<string, (port: number) => Promise<void>>> = {
  async 'broken frames'(port) {
    for (let i = 0; i < 400; i++) {
      const socket = await open(port)
      const valid = frame(1 + (i % 2), randomBytes(i))
      valid[i % Math.min(14, valid.length)] ^= 1 << (i % 8)
      socket.write(i % 3 === 0 ? randomBytes(1 + i) : valid)
      if (i % 16 === 0) await wait(5)
      setTimeout(() => socket.destroy(), 100)
    }
    await wait(200)
  },
  async 'broken control messages'(port) {
    const texts = [
      '{"$":"end"}',
      '{"$":"ping"}',
      '{"$":"value","value":"x"}',
      '{"$":"credit","bytes":1e9}',
      '{"$":',
    ]
    for (let i = 0; i < 400; i++) {
      const socket = await open(port, '/echo', { 'sec-websocket-protocol': 'serving.v1' })
      for (let part = 0; part < 4; part++) {
        const text = Buffer.concat([
          Buffer.from(texts[(i + part) % texts.length]),
          randomBytes(i % 3),
        ])
        if (i % 2 === 0) text[i % text.length] ^= 1 << (i % 8)
        socket.write(frame(1, text))
      }
      setTimeout(() => socket.destroy(), 100)
    }
    await wait(200)
  },
  async 'readers that do not read'(port) {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open(port, '/flood')))
    for (const socket of sockets) socket.write(frame(1, 'more'))
    await wait(1500)
    for (const socket of sockets) socket.resetAndDestroy()
  },
  async 'floods of messages'(port) {
    const sockets = await Promise.all(Array.from({ length: 10 }, () => open(port, '/slow')))
    const message = frame(2, Buffer.alloc(60_000))
    for (const socket of sockets) for (let i = 0; i < 100; i++) socket.write(message)
    await wait(1500)
    for (const socket of sockets) socket.destroy()
  },
  async 'floods of pings'(port) {
    const sockets = await Promise.all(Array.from({ length: 10 }, () => open(port)))
    const pings = Buffer.concat(Array.from({ length: 2000 }, () => frame(9, Buffer.alloc(125))))
    for (const socket of sockets) for (let i = 0; i < 20; i++) socket.write(pings)
    await wait(1500)
    for (const socket of sockets) socket.destroy()
  },
  async 'halves of sockets'(port) {
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open(port)))
    for (const [i, socket] of sockets.entries()) {
      socket.write(frame(2, Buffer.alloc(50_000)).subarray(0, i * 100))
      socket.end()
    }
    await wait(500)
    for (const socket of sockets) socket.destroy()
  },
  async 'connects and drops'(port) {
    for (let i = 0; i < Number(options.drops); i += 50) {
      const drop = async (_: unknown, j: number) => {
        const socket = await open(port)
        if (j % 2 === 0) socket.write(frame(1, 'hello'))
        if (j % 3 === 0) socket.resetAndDestroy()
        else socket.destroy()
      }
      await Promise.all(Array.from({ length: 50 }, drop))
    }
  },
}

const mb = (bytes: number | undefined) => ((bytes ?? 0) / 1e6).toFixed(1)

/** Tells what idle streams add to a worker that has done nothing yet. */
async function rest(engine: string, port: number, worker: number): Promise<void> {
  const before = memory(worker, 'VmRSS') ?? 0
  const idle: Socket[] = []
  for (let i = 0; i < Number(options.idle); i += 50) {
    idle.push(...(await Promise.all(Array.from({ length: 50 }, () => open(port)))))
  }
  await wait(2000)
  const each = ((memory(worker, 'VmRSS') ?? 0) - before) / Math.max(1, idle.length)
  const size = `${(each / 1000).toFixed(1)} KB`
  console.log(
    `${engine}: ${idle.length} idle streams take ${size} each, ${descriptorsOf(worker)} descriptors`,
  )
  for (const socket of idle) socket.destroy()
  await wait(1000)
}

async function endure(engine: string): Promise<void> {
  const { child, port, worker } = await startServer(engine)
  await rest(engine, port, worker)
  let isOver = false
  const good = Array.from({ length: 8 }, () => beGood(port, () => isOver))
  const rss: number[] = []
  for (let round = 0; round <= Number(options.rounds); round++) {
    for (const harm of Object.values(harms)) await harm(port)
    await wait(1000)
    rss.push(memory(worker, 'VmRSS') ?? 0)
    console.log(
      `${engine}, round ${round}: ${mb(rss.at(-1))} MB, ${descriptorsOf(worker)} descriptors`,
    )
  }
  // The first round warms up; a quarter is what collections of the garbage leave.
  if ((rss.at(-1) ?? 0) > 1.25 * rss[1])
    faults.push(`${engine}: memory rose from ${mb(rss[1])} to ${mb(rss.at(-1))} MB`)
  isOver = true
  const counts = await Promise.all(good)
  console.log(
    `${engine}: ${counts.reduce((sum, count) => sum + count, 0)} messages of good streams came back`,
  )
  if (child.exitCode !== null) faults.push(`${engine}: the server ended with ${child.exitCode}`)
  else {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

for (const engine of options.engines.split(',')) await endure(engine)
console.log(`${faults.length} faults`)
for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
process.exitCode = faults.length === 0 ? 0 : 1
