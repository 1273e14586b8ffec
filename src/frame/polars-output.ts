/**
 * What Polars writes, gathered. Left to itself it calls back for every few bytes, some 15 times a column and page, at
 * 1.5 µs each.
 * @module
 */
import { fstatSync } from 'node:fs'
import { Writable } from 'node:stream'
import { TempFile } from '../file/temp-file.ts'

/** Takes what Polars writes to a stream, at once and not by way of a stream. */
export class Pieces extends Writable {
  size = 0
  readonly #take: (piece: Uint8Array, position: number) => void

  constructor(take: (piece: Uint8Array, position: number) => void) {
    super()
    this.#take = take
  }

  override write(piece: Uint8Array): boolean {
    this.#take(piece, this.size)
    this.size += piece.length
    return true
  }
}

let file: TempFile | undefined

/**
 * What Polars writes to a file in memory, where there are such files; undefined elsewhere, and when it fails.
 * **Cost**: pages of the file, fresh each time: for small outputs only.
 */
export function gatherInFile(write: (path: string) => void): Uint8Array | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    file ??= new TempFile('/dev/shm')
    write(`/proc/self/fd/${file.fd}`)
    const bytes = file.readSync(fstatSync(file.fd).size)
    file.clear()
    return bytes
  } catch {
    return undefined
  }
}
