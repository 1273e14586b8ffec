/**
 * Sends bodies of one kind and judges the answers: 200, or 4xx with an error of its protocol.
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { GrpcClient } from '../rpc/harness.ts'
import { type FuzzRequest, fuzzRequest, type Kind } from './corpora.ts'

/** What became of one kind. */
export interface AttackResult {
  readonly statuses: ReadonlyMap<number, number>
  /** Each with the command that sends it again. */
  readonly failures: readonly string[]
  /** **Units**: milliseconds. */
  readonly slowest: { readonly ms: number; readonly title: string }
  readonly seconds: number
}

/** Where a server is. */
export interface Ports {
  readonly port: number
  readonly grpcPort: number
}

/** Sends bodies `from` to `to` of a kind, eight at once. */
export async function attack(
  { port, grpcPort }: Ports,
  seed: number,
  kind: Kind,
  from: number,
  to: number,
): Promise<AttackResult> {
  const statuses = new Map<number, number>()
  const failures: string[] = []
  let slowest = { ms: 0, title: '' }
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 8 })
  const grpc = new GrpcClient(grpcPort, 'inference.GRPCInferenceService')
  const begun = performance.now()
  let next = from
  const one = async (index: number) => {
    const request = fuzzRequest(seed, kind, index)
    const start = performance.now()
    const isGrpc = request.path.startsWith('/inference.')
    const { status, problem } = isGrpc
      ? await judgeMessage(grpc, request)
      : await judge(pool, request)
    const ms = performance.now() - start
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (ms > slowest.ms) slowest = { ms, title: request.title ?? `${kind} ${index}` }
    if (problem === undefined) return
    const file = save(seed, kind, index, request)
    failures.push(
      `${problem}; ${request.title ?? ''} --seed ${seed} --only ${kind}:${index}, saved as ${file}`,
    )
  }
  const loop = async () => {
    while (next < to) await one(next++)
  }
  await Promise.all(Array.from({ length: 8 }, loop))
  await pool.close()
  grpc.close()
  return { statuses, failures, slowest, seconds: (performance.now() - begun) / 1000 }
}

async function judge(
  pool: Pool,
  { path, contentType, body, headers }: FuzzRequest,
): Promise<{ status: number; problem?: string }> {
  try {
    const answer = await pool.request({
      ...{ method: 'POST', path, body, headersTimeout: 60_000, bodyTimeout: 60_000 },
      headers: { ...headers, ...(contentType !== undefined && { 'content-type': contentType }) },
    })
    const status = answer.statusCode
    const text = await answer.body.text()
    if (status === 200) return { status }
    if (status >= 500 || status < 400) return { status, problem: `${status} ${text.slice(0, 300)}` }
    if (isExplained(path, answer.headers['content-type'], text, status)) return { status }
    return { status, problem: `${status} without an error: ${text.slice(0, 300)}` }
  } catch (error) {
    return { status: 0, problem: `no answer: ${error}` }
  }
}

/** Whether an error is what the protocol of the path has for errors. */
function isExplained(path: string, type: unknown, text: string, status: number): boolean {
  // Connect has no errors of its own for a type that is none of its.
  if (status === 415 && path.startsWith('/serving.')) return true
  const error = JSON.parse(text)
  if (type === 'application/problem+json') return error.status === status
  return (
    type === 'application/json' &&
    typeof (path.startsWith('/v2/') ? error.error : error.code) === 'string'
  )
}

/** Statuses of gRPC: what the client did wrong, as 400, 404 and 413 of HTTP. */
const refusals = [3, 5, 8]

async function judgeMessage(
  grpc: GrpcClient,
  { body }: FuzzRequest,
): Promise<{ status: number; problem?: string }> {
  const { error } = await grpc.raw(body, { deadline: 60_000 }, 'ModelInfer')
  if (error === undefined) return { status: 0 }
  const { code, details } = error
  return refusals.includes(code)
    ? { status: code }
    : { status: code, problem: `${code} ${details.slice(0, 300)}` }
}

function save(seed: number, kind: Kind, index: number, { body, ...head }: FuzzRequest): string {
  const folder = join(tmpdir(), `serving-fuzz-${seed}`)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${kind}-${index}.bin`)
  writeFileSync(path, body)
  writeFileSync(`${path}.json`, JSON.stringify(head))
  return path
}
