/** Sends recorded calls again, and compares what comes with what came then. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { valueOf } from '../../capture/captured-value.ts'
import type { CapturedCall } from '../../capture/read-rows.ts'
import { BinaryFile } from '../../core/file/binary-file.ts'
import { isRecord } from '../../core/options.ts'
import { Image } from '../../descriptors/image.ts'
import { HeaderList, HttpRequest } from '../../http/message.ts'
import type { Tolerance } from '../../values/difference.ts'
import { timeOf } from '../recorded-calls.ts'
import { ApiResult } from './api-result.ts'
import { failure, type Target } from './target.ts'

/** How calls are sent and compared. */
export interface ReplayOptions extends Tolerance {
  /** How often as fast as recorded; undefined: as fast as it goes. */
  readonly speed?: number
  /** Calls at a time. */
  readonly connections: number
}

/** @returns the results of each API, by name. */
export async function replay(
  calls: AsyncIterable<CapturedCall>,
  target: Target,
  { speed = Infinity, connections, ...tolerance }: ReplayOptions,
): Promise<ApiResult[]> {
  const results = new Map<string, ApiResult>()
  const open = new Set<Promise<void>>()
  const start = performance.now()
  let first = Infinity
  for await (const call of calls) {
    first = Math.min(first, timeOf(call))
    const aheadMs = start + (timeOf(call) - first) / speed - performance.now()
    if (aheadMs > 0) await wait(aheadMs)
    while (open.size >= connections) await Promise.race(open)
    const { api } = call.notes
    const result = results.get(api) ?? new ApiResult(api, call)
    results.set(api, result)
    const work = replayCall(call, target, tolerance, result)
      .catch((error) => `it cannot be read: ${error instanceof Error ? error.message : error}`)
      .then((reason) => {
        open.delete(work)
        if (reason !== undefined) result.skip(reason)
      })
    open.add(work)
  }
  await Promise.all(open)
  return [...results.values()].toSorted((a, b) => (a.api < b.api ? -1 : 1))
}

/** @returns why the call was not compared, if it was not. */
async function replayCall(
  call: CapturedCall,
  target: Target,
  tolerance: Tolerance,
  result: ApiResult,
): Promise<string | undefined> {
  const { row } = call
  const paths = (row.redacted ?? []) as readonly string[]
  if (paths.length > 0) return `${paths.join(', ')} was redacted`
  const isError = Number(row.status) >= 400
  const code = String(row.error ?? `http_${row.status}`)
  const expected = isError ? failure(code) : await pixelsOf(valueOf(call, 'output'))
  if (expected === undefined) return reasonFor(row)
  const input = valueOf(call, 'input')
  const answer = await target.ask(call)
  if (typeof answer === 'string') return answer
  const actual = await pixelsOf(answer.value)
  result.compare(call, { input, expected, actual, ms: answer.ms }, tolerance)
  return undefined
}

function reasonFor(row: CapturedCall['row']): string {
  if ('output.messages' in row) return 'its output was a stream'
  return 'output.sha256' in row ? 'its output was too large to be kept' : 'it has no output'
}

/** @returns a value whose pictures are pixels: files of two can differ, and show the same. */
async function pixelsOf(value: unknown): Promise<unknown> {
  if (value instanceof BinaryFile) {
    if (!value.mimeType.startsWith('image/')) return value
    const lines = HeaderList.from({ 'content-type': value.mimeType })
    const request = new HttpRequest(lines, value.bytes)
    return new Image({ pilmode: null }).fromHttpRequest(request).catch(() => value)
  }
  if (Array.isArray(value) && holdsFile(value)) return Promise.all(value.map(pixelsOf))
  if (!isRecord(value) || !Object.values(value).some(holdsFile)) return value
  const parts = Object.entries(value).map(async ([name, part]) => [name, await pixelsOf(part)])
  return Object.fromEntries(await Promise.all(parts))
}

const holdsFile = (part: unknown) => (Array.isArray(part) ? part[0] : part) instanceof BinaryFile
