/**
 * The other side of the Parquet wall: decodes one file after another from pipe 3 and answers on pipe 4. See `parquet-wall.ts`.
 * Not on stdin and stdout, which whoever touches `process.stdout` makes non-blocking.
 *
 * In: 4 bytes of the file's length, 4 of the answer's largest, the file. Out: 1 byte of status (0 a frame, 1 an error, 2 ready, 3 a frame
 * that is too large), 4 of length, the bytes. Reads and writes block: there is nothing
 * else to do here, and an event loop between them costs more than a small file takes.
 * @module
 */
import { readSync, writeFileSync, writeSync } from 'node:fs'
import { type DataFrame, loadPolars } from './polars.ts'

/** Fills a buffer; the end of the pipe means that the parent is gone. */
function readAll(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    const count = readSync(3, bytes, at, bytes.length - at, null)
    if (count === 0) process.exit(0)
    at += count
  }
}

function answer(status: number, bytes: Uint8Array): void {
  const head = Buffer.alloc(5)
  head[0] = status
  head.writeUInt32LE(bytes.length, 1)
  for (const part of [head, bytes]) for (let at = 0; at < part.length; ) at += writeSync(4, part, at, part.length - at)
}

/**
 * What a frame takes where it is written out: a text that all rows share is there once in memory and once for each row in JSON, so that
 * 260 bytes of Parquet become 1 GB. **Cost**: counts characters, unless so few rows cannot get above the limit.
 */
function sizeOf(frame: DataFrame, ipcBytes: number, limit: number): number {
  if (ipcBytes > limit || frame.height * frame.width * ipcBytes <= limit) return ipcBytes
  return Math.max(ipcBytes, polars.countCharacters(frame))
}

try {
  // When memory runs out, this process is the one to go, not the server.
  writeFileSync('/proc/self/oom_score_adj', '1000')
} catch {
  // Not Linux.
}

const polars = loadPolars('Parquet input')
answer(2, new Uint8Array(0))
const head = Buffer.alloc(8)
for (;;) {
  readAll(head)
  const file = Buffer.allocUnsafeSlow(head.readUInt32LE(0))
  readAll(file)
  try {
    const isArrow = file.subarray(0, 6).toString('latin1') === 'ARROW1'
    const frame = isArrow ? polars.readIpc(file) : polars.readParquet(file)
    const ipc = polars.writeIpc(frame)
    const size = sizeOf(frame, ipc.length, head.readUInt32LE(4))
    if (size > head.readUInt32LE(4)) answer(3, Buffer.from(String(size)))
    else answer(0, ipc)
  } catch (error) {
    answer(1, Buffer.from(error instanceof Error ? error.message : String(error)))
  }
}
