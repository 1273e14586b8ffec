/**
 * Small requests beside large ones: what 1 % of 20 MB arrays does to the latency of the others.
 * @module
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchCase } from './cases/case.ts'
import { matrix, smallMatrix } from './cases/ndarray.ts'
import { startContender } from './contender.ts'
import { Generator } from './load/load.ts'
import type { PacedRequest, PacedResult } from './load/paced.ts'

/** The name for `--only`. */
export const mixedName = 'mixed load'

/** The result of one contender. **Units**: milliseconds. */
export interface MixedRow {
  readonly contender: string
  readonly aloneP99Ms: number
  readonly besideP99Ms: number
  readonly largeP50Ms: number
}

/** All contenders. */
export interface MixedResult {
  readonly smallBytes: number
  readonly largeBytes: number
  readonly connections: number
  readonly smallPerSecond: number
  readonly largePerSecond: number
  readonly rows: readonly MixedRow[]
}

/** The largest ratio of p99 beside large requests to p99 alone. */
export const mixedTarget = 5

// One in a hundred, about the most that Fastify can do with such arrays.
const smallPerSecond = 198
const largePerSecond = 2
const connections = 64
const largeConnections = 4

/** Measures each contender alone and beside large requests. `rows` of the large array are about 19 KB each. */
export async function measureMixed(
  rows: number,
  seconds: number,
  progress: (text: string) => void,
): Promise<MixedResult> {
  const small: BenchCase = { name: mixedName, ...smallMatrix() }
  const large: BenchCase = { name: mixedName, ...matrix(rows) }
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  await using smallLoad = await Generator.start<PacedRequest, PacedResult>('./paced.ts')
  // In a process of its own, so that reading large answers does not delay small ones.
  await using largeLoad = await Generator.start<PacedRequest, PacedResult>('./paced.ts')

  async function measure(contender: string): Promise<MixedRow> {
    await using server = await startContender(contender, small, join(dir, 'small'))
    const url = server.url as string
    const pacedOf = async (name: string, job: BenchCase): Promise<PacedRequest> => {
      const bodyFile = join(dir, name)
      const rightFile = join(dir, `${name}.right`)
      await writeFile(bodyFile, job.body)
      await writeFile(rightFile, await rightAnswer(contender, url, job))
      const pace = name === 'small' ? smallPerSecond : largePerSecond
      const { contentType } = job
      return { url, contentType, bodyFile, rightFile, connections, perSecond: pace, seconds }
    }
    const smallRequest = await pacedOf('small', small)
    const largeRequest = { ...(await pacedOf('large', large)), connections: largeConnections }
    progress(`${mixedName}: ${contender} alone`)
    const alone = await smallLoad.fire(smallRequest)
    progress(`${mixedName}: ${contender} beside large requests`)
    await largeLoad.fire({ ...largeRequest, seconds: 0 })
    const [beside, many] = await Promise.all([
      smallLoad.fire({ ...smallRequest, seconds: seconds * 2 }),
      largeLoad.fire({ ...largeRequest, seconds: seconds * 2 }),
    ])
    return { contender, aloneP99Ms: alone.p99Ms, besideP99Ms: beside.p99Ms, largeP50Ms: many.p50Ms }
  }

  try {
    const rowsSeen: MixedRow[] = []
    for (const contender of ['bare', 'serving', 'serving, 2 workers', 'fastify'])
      rowsSeen.push(await measure(contender))
    const bytes = { smallBytes: small.body.length, largeBytes: large.body.length }
    return { ...bytes, connections, smallPerSecond, largePerSecond, rows: rowsSeen }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** Returns a contender's checked answer, whose bytes all later ones must have. */
async function rightAnswer(
  contender: string,
  url: string,
  { contentType, body, isRight }: BenchCase,
): Promise<Buffer> {
  const headers = { 'content-type': contentType }
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: body as Uint8Array<ArrayBuffer>,
  })
  const answer = Buffer.from(await response.arrayBuffer())
  if (!response.ok || !isRight(answer, '')) {
    throw new Error(`${contender} answers ${mixedName} wrong: ${answer.toString('latin1', 0, 200)}`)
  }
  return answer
}
