/**
 * The process that makes load with autocannon or over gRPC, so that it shares neither an event loop nor a core with
 * what is measured. Binary bodies and latencies below a millisecond need its API: its command reads bodies as text and
 * counts whole milliseconds.
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { quantileOf } from '../../src/cli/load/summary.ts'
import { usageOf } from '../servers/listening.ts'
import { sendByGrpc } from './grpc.ts'
import { answerHarness, type LoadRequest, type LoadResult, type Sender } from './load.ts'
import { sendByWebSocket } from './websocket.ts'

interface Instance extends Promise<Result> {
  on(
    event: 'response',
    listener: (client: unknown, status: number, bytes: number, responseTimeMs: number) => void,
  ): void
}

interface Result {
  readonly requests: { readonly total: number }
  readonly errors: number
  readonly timeouts: number
  readonly non2xx: number
}

type Autocannon = (
  options: object,
  done: (error: Error | null, result: Result) => void,
) => Pick<Instance, 'on'>

const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon

const sendByAutocannon: Sender = async (request, body, answered) => {
  const result = await new Promise<Result>((resolve, reject) => {
    const options = {
      url: request.url,
      method: 'POST',
      headers: { 'content-type': request.contentType, ...request.headers },
      body,
      connections: request.connections,
      timeout: 60,
      // It checks only at this interval whether it is done.
      sampleInt: 20,
      // A counted number of requests is answered in full, so that the server's CPU time is for these requests only.
      ...(request.amount === undefined
        ? { duration: request.seconds }
        : { amount: request.amount }),
    }
    autocannon(options, (error, ended) => (error === null ? resolve(ended) : reject(error))).on(
      'response',
      (_client, _status, _bytes, responseTimeMs) => answered(responseTimeMs),
    )
  })
  return {
    requests: result.requests.total,
    errors: result.errors + result.timeouts + result.non2xx,
  }
}

const senders: Readonly<Record<string, Sender>> = { 'grpc:': sendByGrpc, 'ws:': sendByWebSocket }

let bodyFile = ''
let body: Buffer = Buffer.alloc(0)

async function fire(request: LoadRequest): Promise<LoadResult> {
  if (request.bodyFile !== bodyFile) {
    bodyFile = request.bodyFile
    body = readFileSync(bodyFile)
  }
  const latencies: number[] = []
  let last = 0
  const before = usageOf().cpuMicros
  const start = performance.now()
  const send = senders[new URL(request.url).protocol] ?? sendByAutocannon
  const { requests, errors } = await send(request, body, (latencyMs) => {
    latencies.push(latencyMs)
    last = performance.now()
  })
  const seconds = (last - start) / 1000
  latencies.sort((a, b) => a - b)
  return {
    requests,
    perSecond: requests / seconds,
    seconds,
    p50Ms: quantileOf(latencies, 0.5),
    p99Ms: quantileOf(latencies, 0.99),
    errors,
    loadCpuMicros: usageOf().cpuMicros - before,
  }
}

answerHarness(fire)
