/**
 * The process that asks for something small every 5 ms while `stall.ts` sends something large: in a process of its own,
 * so that sending and reading what is large does not count as waiting for the server.
 * @module
 */
import { Agent, request } from 'node:http'
import { setPriority } from 'node:os'
import { quantileOf } from '../../src/cli/load/summary.ts'
import { answerHarness } from './load.ts'

/** Begins to ask at a port, or ends: `port` is undefined. */
export interface NeighbourRequest {
  readonly port?: number
}

/** How long answers took; 0 where it has only begun. **Units**: milliseconds. */
export interface NeighbourResult {
  readonly p99Ms: number
  readonly maxMs: number
}

try {
  // Its own wait for a core is not the server's.
  setPriority(-10)
} catch {
  // Needs a privilege that a user may not have.
}

const body = Buffer.from('[[1,2],[3,4]]')
let agent = new Agent()
let timer: NodeJS.Timeout | undefined
let pending: Promise<void>[] = []
let waits: number[] = []

answerHarness(async ({ port }: NeighbourRequest): Promise<NeighbourResult> => {
  if (port !== undefined) {
    agent = new Agent({ keepAlive: true, maxSockets: 64 })
    // A warm connection, and compiled code.
    for (let i = 0; i < 20; i++) await ask(port)
    pending = []
    waits = []
    timer = setInterval(() => pending.push(ask(port)), 5)
    return { p99Ms: 0, maxMs: 0 }
  }
  clearInterval(timer)
  await Promise.all(pending)
  agent.destroy()
  waits.sort((a, b) => a - b)
  return { p99Ms: quantileOf(waits, 0.99), maxMs: waits.at(-1) ?? 0 }
})

/** A request that fails counts as well: the server is lost then, which the sender of what is large reports. */
function ask(port: number): Promise<void> {
  const beganMs = performance.now()
  return new Promise((resolve) => {
    const ended = () => {
      waits.push(performance.now() - beganMs)
      resolve()
    }
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const sent = request(
      { host: '127.0.0.1', port, path: '/double', method: 'POST', headers, agent },
      (answer) => {
        answer.resume().on('end', ended).on('error', ended)
      },
    )
    sent.on('error', ended).end(body)
  })
}
