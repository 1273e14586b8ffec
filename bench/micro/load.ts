/**
 * Whether `serving load` tells the truth: its p50 and p99 against those of a server in a process of its own, which
 * answers after known delays and notes how long each took it.
 *
 * `npx tsx --tsconfig bench/tsconfig.json bench/micro/load.ts`, nothing else running. On a busy machine root puts
 * `chrt -f 20` in front, so that both processes go before all others. Exits with 1 if an error is above 3 %.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { byChance, runOpenLoop } from '../../src/cli/load/open-loop.ts'
import { openSender } from '../../src/cli/load/senders.ts'
import { type QuantileName, quantileOf, summaryOf } from '../../src/cli/load/summary.ts'

/** Answers after 20 ms, three in a hundred after 120. A bare socket: nothing but the delay is between its bytes. */
function serveDelays(): void {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone'
  let took: number[] = []
  let count = 0
  const server = createServer({ noDelay: true }, (socket) => {
    // A request comes in one piece, and the next one once it is answered.
    socket.on('data', () => {
      const startMs = performance.now()
      const delayMs = count++ % 100 < 3 ? 120 : 20
      setTimeout(() => {
        socket.write(answer)
        took.push(performance.now() - startMs)
      }, delayMs)
    })
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
  process.on('message', () => {
    const sorted = Float64Array.from(took).sort()
    process.send?.({ p50: quantileOf(sorted, 0.5), p99: quantileOf(sorted, 0.99) })
    took = []
  })
  process.on('disconnect', () => process.exit(0))
}

async function told(child: ChildProcess): Promise<unknown> {
  const [message] = await once(child, 'message')
  return message
}

if (process.send === undefined) {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: ['--import', 'tsx'] })
  const url = new URL(`http://127.0.0.1:${await told(child)}/`)
  const sender = openSender(url, { connections: 1000, timeout: 10 })
  const body = { body: Buffer.from('x'), headers: { 'content-type': 'text/plain' } }
  // As `serving load`: connections open and both sides compile.
  await runOpenLoop(byChance, 500, 3, () => sender.send(body))
  child.send('report')
  await told(child)
  for (const rate of [50, 200, 1000, 3000]) {
    const before = process.cpuUsage()
    const seconds = 10
    const samples = await runOpenLoop(byChance, rate, seconds, () => sender.send(body))
    const cpu = process.cpuUsage(before)
    const { latencyMs, ownCpu, failed } = summaryOf({ rate, seconds, samples, cpu })
    child.send('report')
    const server = (await told(child)) as Record<QuantileName, number>
    const figures = (['p50', 'p99'] as const).map((name) => {
      const error = (latencyMs[name] / server[name] - 1) * 100
      if (Math.abs(error) > 3) process.exitCode = 1
      return `${name} ${latencyMs[name].toFixed(2)} ms, server ${server[name].toFixed(2)} (${error.toFixed(1)} %)`
    })
    console.log(
      `${rate}/s: ${figures.join('; ')}; ${failed} failed, ${(ownCpu * 100).toFixed(0)} % of a core`,
    )
  }
  sender.close()
  child.disconnect()
} else serveDelays()
