/** Sends recorded calls again, and compares what comes with what came then. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { valueOf } from '../../capture/captured-value.ts'
import type { CapturedCall } from '../../capture/read-rows.ts'
import { errorText } from '../../core/errors.ts'
import { BinaryFile } from '../../core/file/binary-file.ts'
import { isRecord } from '../../core/options.ts'
import { Image } from '../../descriptors/image.ts'
import type { Tolerance } from '../../values/difference.ts'
import { timeOf } from '../recorded-calls.ts'
import { addCompared, addOne, type Figures, newFigures } from './report.ts'
import { failure, type Target } from './target.ts'

/** How calls are sent and compared. */
export interface ReplayOptions extends Tolerance {
  /** How often as fast as recorded; undefined: as fast as it goes. */
  readonly speed?: number
  /** Calls at a time. */
  readonly connections: number
}

/** @returns the figures of each API. */
export async function replay(
  calls: AsyncGenerator<CapturedCall>,
  target: Target,
  { speed = Infinity, connections, ...tolerance }: ReplayOptions,
): Promise<Figures[]> {
  const apis = new Map<string, Figures>()
  const start = performance.now()
  let first = Infinity
  // Each takes the next call once the last one is answered.
  const sendInTurn = async () => {
    for await (const call of calls) {
      first = Math.min(first, timeOf(call))
      const aheadMs = start + (timeOf(call) - first) / speed - performance.now()
      if (aheadMs > 0) await wait(aheadMs)
      const { api } = call.notes
      const figures = apis.get(api) ?? newFigures(api)
      apis.set(api, figures)
      try {
        addCompared(figures, call, await askAgain(call, target), tolerance)
      } catch (error) {
        addOne(figures.skipped, errorText(error))
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, sendInTurn))
  return [...apis.values()]
}

/**
 * @returns what a call had, what came then, and what comes now.
 * @throws why it cannot be compared.
 */
async function askAgain(call: CapturedCall, target: Target) {
  const { row } = call
  const redacted = (row.redacted ?? []) as readonly string[]
  if (redacted.length > 0) throw new Error(`${redacted.join(', ')} was redacted`)
  const isError = Number(row.status) >= 400
  const code = String(row.error ?? `http_${row.status}`)
  const expected = isError ? failure(code) : await pixelsOf(valueOf(call, 'output'))
  if (expected === undefined) throw new Error(reasonFor(row))
  const { value, ms } = await target.ask(call)
  return { input: valueOf(call, 'input'), expected, actual: await pixelsOf(value), ms }
}

function reasonFor(row: CapturedCall['row']): string {
  if ('output.messages' in row) return 'its output was a stream'
  return 'output.sha256' in row ? 'its output was too large to be kept' : 'it has no output'
}

/** @returns a value whose pictures are pixels: files of two can differ, and show the same. */
async function pixelsOf(value: unknown): Promise<unknown> {
  if (value instanceof BinaryFile) {
    if (!value.mimeType.startsWith('image/')) return value
    const image = new Image({ pilmode: null })
    const decode = async ({ bytes, mimeType }: BinaryFile) => image.fromBytes(bytes, mimeType)
    return decode(value).catch(() => value)
  }
  if (Array.isArray(value) && holdsFile(value)) return Promise.all(value.map(pixelsOf))
  if (!isRecord(value) || !Object.values(value).some(holdsFile)) return value
  const parts = Object.entries(value).map(async ([name, part]) => [name, await pixelsOf(part)])
  return Object.fromEntries(await Promise.all(parts))
}

const holdsFile = (part: unknown) => [part].flat()[0] instanceof BinaryFile
