/** Collects what Polars writes: its writers call back for every few bytes. @module */
import { fstatSync } from 'node:fs'
import { Writable } from 'node:stream'
import { TempFile } from '../../../core/file/temp-file.ts'

/** A stream for Polars to write to, which passes each piece on synchronously and without buffering. */
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

/** Returns what Polars writes to a file in memory: for small outputs. Undefined without such files, and on failure. */
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
