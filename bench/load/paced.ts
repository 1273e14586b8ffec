/**
 * The process that makes load at a fixed pace: a request goes out when it is due, whether or not those before it are
 * answered, so that a server that blocks delays requests and does not reduce their number.
 * @module
 */
import { readFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { runOpenLoop } from '../../src/cli/load/open-loop.ts'
import { quantileOf } from '../../src/cli/load/summary.ts'
import { answerHarness } from './load.ts'

const patienceMs = 60_000

/** What to send, and how often. */
export interface PacedRequest {
  readonly url: string
  readonly contentType: string
  readonly bodyFile: string
  /** The bytes that every answer must have. */
  readonly rightFile: string
  /** Used in turns. */
  readonly connections: number
  readonly perSecond: number
  /** 0 only connects and warms up. */
  readonly seconds: number
}

/**
 * The result. **Units**: milliseconds from when the request was due to the last byte of the answer, including time
 * waiting for the connection.
 */
export interface PacedResult {
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Connections stay open between two requests for the same server. */
const agentsOf = new Map<string, readonly Agent[]>()
const newAgents = (count: number) =>
  Array.from({ length: count }, () => new Agent({ keepAlive: true, maxSockets: 1 }))

async function pace(paced: PacedRequest): Promise<PacedResult> {
  const { url, contentType, connections, perSecond, seconds } = paced
  const body = readFileSync(paced.bodyFile)
  const right = readFileSync(paced.rightFile)
  const headers = { 'content-type': contentType, 'content-length': body.length }
  const isNew = !agentsOf.has(url)
  const agents = agentsOf.get(url) ?? newAgents(connections)
  agentsOf.set(url, agents)

  const send = (agent: Agent) =>
    new Promise<void>((resolve, reject) => {
      const outgoing = httpRequest(url, { method: 'POST', headers, agent }, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('end', () => {
          if (Buffer.concat(pieces).equals(right)) resolve()
          else
            reject(new Error(`${url} answered ${response.statusCode} and other bytes than before`))
        })
      })
      outgoing.setTimeout(patienceMs, () => outgoing.destroy(new Error('no answer')))
      outgoing.on('error', reject)
      outgoing.end(body)
    })

  // Connects, and compiles both sides.
  for (let i = 0; isNew && i < 3; i++) await Promise.all(agents.map(send))
  let turn = 0
  let failure: unknown
  const checked = async () => {
    try {
      await send(agents[turn++ % connections])
      return {}
    } catch (error) {
      failure ??= error
      return { fault: String(error) }
    }
  }
  const samples = await runOpenLoop({ gapMs: () => 1000 }, perSecond, seconds, checked)
  if (failure !== undefined) throw failure
  const latencies = Float64Array.from(samples, ({ latencyMs }) => latencyMs).sort()
  return {
    requests: latencies.length,
    p50Ms: quantileOf(latencies, 0.5),
    p99Ms: quantileOf(latencies, 0.99),
  }
}

answerHarness(pace)
