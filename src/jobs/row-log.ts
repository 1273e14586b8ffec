/**
 * The answers of the rows of a job, which its store keeps as they come: a chunk of text for all that have come during
 * one write, and of those in order large blobs. There is no other state of a row. @module
 */
import { setImmediate } from 'node:timers/promises'
import { PayloadTooLarge } from '../core/errors.ts'
import { bufferPool, joinInPool } from '../core/memory/buffer-pool.ts'
import type { HeldMemory } from '../core/memory/held-memory.ts'
import { deferred, within } from '../core/promise.ts'
import { parseJson } from '../core/text/parse-json.ts'
import { nosniff } from '../http/response-head.ts'
import { type BlobStore, maxInlineBytes } from './blob-store.ts'
import type { Attempt, KeptRows } from './job-store.ts'
import { responseBlob } from './kept-body.ts'
import { type StoredAnswer, StoredBody } from './stored-body.ts'

/** An answer, as a line of the result. */
export interface RowAnswer {
  readonly line: Uint8Array
  readonly isFailed: boolean
  /** Whether it tells of deaths of workers, which count on. */
  readonly isDeath?: boolean
}

/** How far a job of rows is. */
export interface RowCounts {
  readonly done: number
  readonly total: number
  readonly failed: number
}

/** What a chunk may begin with: the rows in blobs, how many of them have failed, and the bytes of their lines. */
interface Head {
  readonly rows: number
  readonly failed: number
  readonly bytes: number
}

interface Read {
  readonly head: Head
  /** Those in no blob, by index. */
  readonly answers: Map<number, RowAnswer>
}

/** Largest answer of a row, and largest result in a store without a place for blobs. **Units**: bytes. */
export const maxKeptBytes = 16 * maxInlineBytes
/** Smallest blob. **Units**: bytes. */
const minBlobBytes = maxInlineBytes / 4
/** How long an answer waits for others at most, before it is written. **Units**: milliseconds. */
const gatherMs = 10
const end = Buffer.from('\n')
/** What the line of a row that failed begins with. */
const errorStart = Buffer.from('{"index":')
/** The problem of a row that had not ended when its job was canceled. */
const canceled = '{"code":"canceled","title":"Canceled"}'
const [lineEnd, failedMark, headMark] = [0x0a, 0x21, 0x7b]

/** @returns the text of answers in a chunk: `7 LINE`, or `7!LINE` of a row that has failed. */
function chunkOf(answers: Iterable<readonly [index: number, answer: RowAnswer]>): Uint8Array[] {
  return [...answers].flatMap(([index, { line, isFailed }]) => [
    Buffer.from(`${index}${isFailed ? '!' : ' '}`),
    line,
    end,
  ])
}

function readChunks(chunks: readonly Uint8Array[]): Read {
  let head: Head = { rows: 0, failed: 0, bytes: 0 }
  const answers = new Map<number, RowAnswer>()
  for (const chunk of chunks.map((each) => Buffer.from(each.buffer, each.byteOffset, each.length)))
    for (let at = 0, next = 0; at < chunk.length; at = next + 1) {
      next = chunk.indexOf(lineEnd, at)
      const record = chunk.subarray(at, next)
      if (record[0] === headMark) head = parseJson(record, 'the rows of a job') as Head
      else {
        const mark = record.findIndex((byte) => byte < 0x30)
        const answer = { line: record.subarray(mark + 1), isFailed: record[mark] === failedMark }
        answers.set(Number(record.toString('latin1', 0, mark)), answer)
      }
    }
  return { head, answers }
}

/** @returns the answer of a job of rows, which a canceled one has, too; undefined if no row has one. */
export function rowsAnswer(kept: KeptRows, store: BlobStore | undefined): StoredAnswer | undefined {
  if (!kept.chunks.some(({ length }) => length > 0)) return undefined
  const headers = [['content-type', 'application/jsonl'], nosniff] as const
  return { status: 200, headers, body: rowsBody(kept, store) }
}

/** @returns the result of a job of rows: a line for each row up to the last one that has an answer. */
export function rowsBody({ blobs, chunks }: KeptRows, store: BlobStore | undefined): StoredBody {
  const { head, answers } = readChunks(chunks)
  const last = Math.max(...answers.keys(), head.rows - 1)
  const lines: Uint8Array[] = []
  for (let i = head.rows; i <= last; i++)
    lines.push(answers.get(i)?.line ?? errorLine(i, canceled), end)
  const rest = Buffer.concat(lines)
  const read = async function* () {
    for (const name of blobs) yield* store?.read(name) ?? []
    for (let at = 0; at < rest.length; at += maxInlineBytes)
      yield rest.subarray(at, at + maxInlineBytes)
  }
  return new StoredBody(head.bytes + rest.length, read, rest.length)
}

/** @returns the line of a row without an answer. `error`: the text of a problem document. */
export function errorLine(index: number, error: string): Uint8Array {
  return Buffer.from(`{"index":${index},"error":${error}}`)
}

/** @returns the line of a right answer: a blank tells it from that of a row that failed, which it may look like. */
export function answerLine(json: Uint8Array): Uint8Array {
  if (!errorStart.every((byte, at) => json[at] === byte)) return json
  return Buffer.concat([Buffer.from(' '), json])
}

/** What one attempt keeps. */
export class RowLog {
  readonly #attempt: Attempt
  readonly #memory: HeldMemory
  readonly #total: number
  readonly #answers: Map<number, RowAnswer>
  #head: Head
  #failed: number
  /** The first row without an answer, and the bytes of lines before it and behind it that are in no blob. */
  #next: number
  #inOrder = 0
  #ahead = 0
  /** Of blobs that are being written. **Units**: bytes. */
  #inBlobs = 0
  #pending: (readonly [number, RowAnswer])[] = []
  #writing: Promise<void> = Promise.resolve()
  #hasEnough = deferred<void>()

  /** `kept`: by attempts before. `memory`: for the answers that are in no blob. */
  constructor(attempt: Attempt, total: number, memory: HeldMemory, { chunks }: KeptRows) {
    const { head, answers } = readChunks(chunks)
    this.#attempt = attempt
    this.#memory = memory
    this.#total = total
    this.#head = head
    this.#next = head.rows
    this.#failed = head.failed
    this.#answers = new Map()
    for (const [index, answer] of answers) this.#take(index, answer)
  }

  get counts(): RowCounts {
    return {
      done: this.#head.rows + this.#answers.size,
      total: this.#total,
      failed: this.#failed,
    }
  }

  /** Whether so much waits for a row before it that no others should begin. */
  get isAhead(): boolean {
    const hasMemory = this.#memory.hold(this.#ahead + this.#inOrder + this.#inBlobs)
    return this.#ahead > maxInlineBytes || !hasMemory
  }

  has(index: number): boolean {
    return index < this.#head.rows || this.#answers.has(index)
  }

  /**
   * Keeps an answer, together with others that come during the write before and soon after it.
   *
   * @param enough - So many wait neither for more nor for the write before.
   * @throws PayloadTooLarge; those of the store, for all that come later, too.
   */
  add(index: number, answer: RowAnswer, enough: number): Promise<void> {
    if (this.#pending.length === 0) {
      this.#hasEnough = deferred()
      this.#writing = this.#write(this.#writing)
    }
    if (this.#pending.push([index, answer]) >= enough) this.#hasEnough.resolve()
    return this.#writing
  }

  /** Blobs are written at the same time, and all is kept in the order of the writes. */
  async #write(before: Promise<void>): Promise<void> {
    const { promise } = this.#hasEnough
    await Promise.race([promise, before.then(() => within(promise, gatherMs, undefined))])
    // Rows of one batch of a Runner end in one turn.
    await setImmediate()
    const rows = this.#pending.splice(0)
    const { rows: store, report } = this.#attempt
    const first = this.#next
    for (const [index, answer] of rows) this.#take(index, answer)
    const isFurther = this.#next > first && rows[0]?.[1].isDeath !== true
    const hasBlobs = store.blobs !== undefined
    if (!hasBlobs && this.#inOrder + this.#ahead > maxKeptBytes) {
      const remedy = 'jobs.blobs of the service names a place for more'
      throw new PayloadTooLarge(`expected results of at most ${maxKeptBytes} bytes: ${remedy}`)
    }
    const counts = JSON.stringify(this.counts)
    // The store writes all names with each blob.
    const enough = Math.min(4 * maxInlineBytes, Math.max(minBlobBytes, this.#head.bytes / 4096))
    const isBlob = hasBlobs && this.#inOrder >= enough
    const [chunk, name] = isBlob ? await this.#settle(store.blobs) : [Buffer.concat(chunkOf(rows))]
    await before
    await store.keep(chunk, isFurther, name)
    void report('progress', counts)
  }

  #take(index: number, answer: RowAnswer): void {
    this.#answers.set(index, answer)
    this.#failed += Number(answer.isFailed)
    this.#ahead += answer.line.length
    for (let next = this.#answers.get(this.#next); next !== undefined; ) {
      this.#ahead -= next.line.length
      this.#inOrder += next.line.length
      next = this.#answers.get(++this.#next)
    }
  }

  /** Writes all that is in order as a blob. Returns the chunk of the rest, and its name. */
  async #settle(blobs: BlobStore): Promise<readonly [chunk: Uint8Array, name: string]> {
    const { job, starts } = this.#attempt
    const lines: Uint8Array[] = []
    let { rows: row, failed, bytes } = this.#head
    for (; row < this.#next; row++) {
      const { line, isFailed } = this.#answers.get(row) as RowAnswer
      this.#answers.delete(row)
      failed += Number(isFailed)
      bytes += line.length + 1
      lines.push(line, end)
    }
    this.#head = { rows: row, failed, bytes }
    this.#inOrder = 0
    const head = Buffer.from(JSON.stringify(this.#head))
    const chunk = Buffer.concat([head, end, ...chunkOf(this.#answers)])
    const name = `${responseBlob(job.id, starts)}-${row}`
    const blob = joinInPool(lines)
    this.#inBlobs += blob.length
    await blobs.put(name, blob)
    this.#inBlobs -= blob.length
    bufferPool.give(blob.buffer as ArrayBuffer)
    return [chunk, name]
  }
}
