/** Sends recorded calls again, and compares what comes with what came then. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { valueOf } from '../../capture/captured-value.ts'
import type { CapturedCall } from '../../capture/read-rows.ts'
import { BinaryFile } from '../../core/file/binary-file.ts'
import { Limiter } from '../../core/memory/limiter.ts'
import { isRecord } from '../../core/options.ts'
import { Image } from '../../descriptors/image.ts'
import { HeaderList, HttpRequest } from '../../http/message.ts'
import { type Difference, differenceOf, type Tolerance } from '../../values/difference.ts'
import { Columns } from './drift.ts'
import { failure, type Target } from './target.ts'

/** A call that was answered otherwise than recorded. */
export interface Change extends Difference {
  readonly call: CapturedCall
  /** Whether the greatest score is at another place. */
  readonly isTop: boolean
}

/** What the calls of one API have shown. */
export class ApiResult {
  readonly name: string
  readonly changes: Change[] = []
  /** **Units**: milliseconds. */
  readonly recordedMs: number[] = []
  readonly replayedMs: number[] = []
  /** Of the earlier and the later half of the calls. */
  readonly inputs = [new Columns(), new Columns()] as const
  /** As recorded, and as replayed. */
  readonly outputs = [new Columns(), new Columns()] as const
  /** Calls that could not be replayed, by why. */
  readonly skipped = new Map<string, number>()

  constructor(name: string) {
    this.name = name
  }
}

/** How calls are sent. */
export interface ReplayOptions {
  readonly tolerance: Tolerance
  /** How often as fast as recorded; undefined: as fast as it goes. */
  readonly speed?: number
  /** Calls at a time. */
  readonly connections: number
}

/**
 * @param apis - The calls of each API, by time.
 * @returns the results of each.
 */
export async function replay(
  apis: readonly (readonly CapturedCall[])[],
  target: Target,
  { tolerance, speed, connections }: ReplayOptions,
): Promise<ApiResult[]> {
  const turns = new Limiter(connections)
  const first = Math.min(...apis.map(([call]) => timeOf(call)))
  const replayApi = async (calls: readonly CapturedCall[]) => {
    const result = new ApiResult(String(calls[0].row.api))
    const send = async (call: CapturedCall, i: number) => {
      if (speed !== undefined) await wait((timeOf(call) - first) / speed)
      const inputs = result.inputs[i < calls.length / 2 ? 0 : 1]
      const work = () => replayCall(call, target, tolerance, inputs, result)
      const reason = await turns.run(work)
      if (reason !== undefined) result.skipped.set(reason, (result.skipped.get(reason) ?? 0) + 1)
    }
    await Promise.all(calls.map(send))
    return result
  }
  return Promise.all(apis.map(replayApi))
}

/** **Units**: milliseconds. */
export function timeOf({ row }: CapturedCall): number {
  return Number(row.time)
}

/** @returns why the call was not compared, if it was not. */
async function replayCall(
  call: CapturedCall,
  target: Target,
  tolerance: Tolerance,
  inputs: Columns,
  result: ApiResult,
): Promise<string | undefined> {
  const { row } = call
  const paths = (row.redacted ?? []) as readonly string[]
  if (paths.length > 0) return `${paths.join(', ')} was redacted`
  const isError = Number(row.status) >= 400
  const code = String(row.error ?? `http_${row.status}`)
  const expected = isError ? failure(code) : await pixelsOf(valueOf(call, 'output'))
  if (expected === undefined) return reasonFor(row)
  const answer = await target.ask(call)
  if (typeof answer === 'string') return answer
  const actual = await pixelsOf(answer.value)
  result.recordedMs.push(Number(row.total_ms))
  result.replayedMs.push(answer.ms)
  inputs.add(valueOf(call, 'input'))
  result.outputs[0].add(expected)
  result.outputs[1].add(actual)
  const difference = differenceOf(expected, actual, tolerance)
  if (difference === undefined) return undefined
  const top = differenceOf(expected, actual, { ...tolerance, top1: true })
  result.changes.push({ ...difference, call, isTop: top?.at.startsWith('top 1') === true })
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
  const isForm = isRecord(value) && Object.values(value).some((each) => each instanceof BinaryFile)
  if (!isForm) return value
  const parts = Object.entries(value).map(async ([name, part]) => [name, await pixelsOf(part)])
  return Object.fromEntries(await Promise.all(parts))
}
