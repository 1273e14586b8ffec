/**
 * The child process of `parquet-sandbox.ts`: decodes files one after another, from descriptor 5 to an Arrow file in 6.
 * Pipe 3 brings the numbers of a request; pipe 4 takes a status and the length of the answer. Reads and writes block.
 * @module
 */
import { readSync, writeFileSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { loadPolars } from '../polars/polars.ts'
import type { DataFrame } from '../polars/polars-package.ts'
import {
  answers,
  isArrowStream,
  maxMessageBytes,
  type ParquetAnswer,
  type ParquetRequest,
  requestNumbers,
} from './parquet-answer.ts'
import { diagnoseParquet, mapsAsLists } from './parquet-diagnosis.ts'
import { aboveLimit, readParquetFooter } from './parquet-footer.ts'
import type { ParquetMetadata } from './parquet-metadata.ts'
import { mendTimes } from './parquet-schema.ts'

const [requests, replies, files, frames] = [3, 4, 5, 6]

function readAll(descriptor: number, bytes: Uint8Array, isFile: boolean): void {
  for (let at = 0; at < bytes.length; ) {
    const count = readSync(descriptor, bytes, at, bytes.length - at, isFile ? at : null)
    if (count === 0) process.exit(0)
    at += count
  }
}

function writeAll(bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(frames, bytes, at, bytes.length - at, position + at)
}

function reply(answer: ParquetAnswer, size: number): void {
  const prefix = Buffer.alloc(5)
  prefix[0] = answers.indexOf(answer)
  prefix.writeUInt32LE(size, 1)
  for (let at = 0; at < prefix.length; ) at += writeSync(replies, prefix, at)
}

/** Returns the bytes of a frame written out: a text that all rows share counts once for each row. */
function sizeOf(frame: DataFrame, ipcBytes: number, limit: number): number {
  if (ipcBytes > limit || frame.height * frame.width * ipcBytes <= limit) return ipcBytes
  return Math.max(ipcBytes, polars.countCharacters(frame))
}

/** Returns a name that two columns have, of which Polars would leave out the first. */
function nameTwice({ elements }: ParquetMetadata): string | undefined {
  const names = elements.flatMap(({ path, depth }) => (depth === 1 ? [path] : []))
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

function decode(file: Uint8Array, request: ParquetRequest): [ParquetAnswer, size: number] {
  const limit = request.maxDecodedBytes
  const isArrow = request.isArrow === 1
  if (!isArrow) {
    const footer = readParquetFooter(file)
    if ('failure' in footer) return ['refused', writeText(footer.failure)]
    const above = aboveLimit(footer, request)
    if (above !== undefined) return ['above', writeText(above)]
    const twice = nameTwice(footer.metadata)
    if (twice !== undefined) return ['refused', writeText(`one with two columns ${JSON.stringify(twice.slice(0, 80))}`)]
    mendTimes(file)
  }
  let unwritten: unknown
  try {
    const frame = isArrow ? readArrow(file) : readParquet(file)
    const size = polars.writeIpcPieces(frame, (piece, position) => {
      // An exception must not unwind through Polars.
      try {
        if (unwritten === undefined && position + piece.length <= limit) writeAll(piece, position)
      } catch (error) {
        unwritten = error
      }
    })
    const unpacked = sizeOf(frame, size, limit)
    if (unwritten === undefined) return unpacked > limit ? ['too large', 0] : ['frame', size]
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    const received = isArrow ? 'one that cannot be decoded' : diagnoseParquet(file, cause)
    return ['undecodable', writeText(`${received}\n${cause}`)]
  }
  throw unwritten
}

function readArrow(file: Uint8Array): DataFrame {
  return isArrowStream(file) ? polars.readIpcStream(file) : polars.readIpc(file)
}

function readParquet(file: Uint8Array): DataFrame {
  try {
    return polars.readParquet(file)
  } catch (error) {
    if (!String(error).includes('MapArray') || !mapsAsLists(file)) throw error
    return polars.readParquet(file)
  }
}

function writeText(message: string): number {
  const text = Buffer.from(message).subarray(0, maxMessageBytes)
  writeAll(text, 0)
  return text.length
}

/** After frames of so many bytes, garbage is collected. */
const collectBytes = 2 ** 25
const frameBytes = 2 ** 14

try {
  // If memory runs out, the kernel kills this process, not the server.
  writeFileSync('/proc/self/oom_score_adj', '1000')
} catch {
  // Not Linux.
}

const polars = loadPolars('Parquet input')
reply('ready', 0)
const numbers = new Float64Array(requestNumbers.length)
const numberBytes = new Uint8Array(numbers.buffer)
let garbageBytes = 0
for (;;) {
  readAll(requests, numberBytes, false)
  const request = Object.fromEntries(requestNumbers.map((name, i) => [name, numbers[i]])) as ParquetRequest
  const file = Buffer.allocUnsafeSlow(request.fileBytes)
  readAll(files, file, true)
  let size = 0
  try {
    const [answer, bytes] = decode(file, request)
    size = bytes
    reply(answer, size)
  } catch {
    reply('no space', 0)
  }
  garbageBytes += file.length + size + frameBytes
  if (garbageBytes < collectBytes) continue
  // V8 does not see the memory of frames, and does not free it before the event loop turns.
  garbageBytes = 0
  globalThis.gc?.()
  await setImmediate()
}
