/**
 * Honest requests beside thousands of sockets that send a byte at a time: none may be refused, and their p99 is at most
 * doubled.
 *
 * Run: `ulimit -n 40000; npm run build && npx tsx test/soak/slow-sockets.ts`; `--sockets 10000`, `--seconds 20`,
 * `--workers 1`, `--engines uws,node`. Linux only: the sockets come from many loopback addresses.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { percentile, startGoodLoad } from '../fuzz/good-load.ts'

const { values: options } = parseArgs({
  options: {
    sockets: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '20' },
    workers: { type: 'string', default: '1' },
    engines: { type: 'string', default: 'uws,node' },
  },
})
const root = fileURLToPath(new URL('../../', import.meta.url))
const seconds = Number(options.seconds)
/** Between two bytes of a socket. **Units**: milliseconds. */
const byteEveryMs = 3000
const openPerTurn = 50
const head =
  'POST /text HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 4000\r\n\r\n'

/** A third of them sends headers, a third a body, and a third nothing. */
class SlowSockets {
  readonly #port: number
  readonly #timer: NodeJS.Timeout
  readonly #sockets: { socket: Socket; sent: number }[] = []
  #isOver = false
  #next = 0
  closedByServer = 0

  constructor(port: number) {
    this.#port = port
    const ticks = 100
    this.#timer = setInterval(() => this.#send(ticks), byteEveryMs / ticks)
  }

  async open(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.#open(i)
      if (i % openPerTurn === 0) await wait(5)
    }
  }

  get established(): number {
    return this.#sockets.filter(({ socket }) => socket.readyState === 'open').length
  }

  #open(i: number): void {
    const socket = connect({
      port: this.#port,
      host: '127.0.0.1',
      localAddress: `127.0.1.${1 + (i % 200)}`,
    })
    socket.on('error', () => {})
    this.#sockets[i] = { socket, sent: 0 }
    if (i % 3 === 1) socket.write(head)
    socket.once('close', () => {
      if (this.#isOver) return
      this.closedByServer++
      setTimeout(() => this.#isOver || this.#open(i), 100)
    })
    socket.resume()
  }

  #send(ticks: number): void {
    const count = this.#sockets.length / ticks
    for (let n = 0; n < count; n++, this.#next++) {
      const i = this.#next % this.#sockets.length
      const slow = this.#sockets[i]
      if (slow === undefined || slow.socket.readyState !== 'open' || i % 3 === 2) continue
      slow.socket.write(i % 3 === 0 ? (head[slow.sent++] ?? 'x') : 'x')
    }
  }

  close(): void {
    this.#isOver = true
    clearInterval(this.#timer)
    for (const { socket } of this.#sockets) socket.destroy()
  }
}

async function measure(port: number): Promise<{ text: string; p99: number; refused: number }> {
  const load = await startGoodLoad(port)
  await wait(seconds * 1000)
  const { times, failures } = await load.stop()
  const all = [...times.values()].flat()
  const [p50, p99] = [percentile(all, 0.5), percentile(all, 0.99)]
  const text = `${all.length} requests, ${failures.length} failed, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms`
  return {
    text: failures.length === 0 ? text : `${text}: ${failures[0].slice(0, 200)}`,
    p99,
    refused: failures.length,
  }
}

for (const engine of options.engines.split(',')) {
  const args = [
    'dist/cli/main.js',
    'serve',
    'test/fuzz/fuzz.service.ts',
    '--port',
    '0',
    '--host',
    '127.0.0.1',
  ]
  const child = spawn(
    process.execPath,
    [...args, '--workers', options.workers, '--engine', engine],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  let port = 0
  for await (const line of createInterface(child.stdout as Readable)) {
    port = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
    if (port > 0) break
  }
  await measure(port)
  const alone = await measure(port)
  console.log(`${engine}, alone: ${alone.text}`)
  const slow = new SlowSockets(port)
  await slow.open(Number(options.sockets))
  // A new connection waits until those before it were taken.
  const begun = performance.now()
  await (
    await fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: 'close' } })
  ).text()
  const accepting = performance.now() - begun
  const open = slow.established
  const beside = await measure(port)
  console.log(
    `${engine}, beside ${open} slow sockets: ${beside.text}; p99 ${(beside.p99 / alone.p99).toFixed(2)} times`,
  )
  console.log(`  the next connection was answered after ${accepting.toFixed(0)} ms`)
  console.log(`  closed by the server meanwhile, and opened again: ${slow.closedByServer}`)
  slow.close()
  child.kill('SIGTERM')
  await once(child, 'exit')
  if (beside.refused > 0) process.exitCode = 1
}
