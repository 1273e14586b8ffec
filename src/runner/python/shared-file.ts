/** Memory shared with Python: an unnamed file, of which one side writes blocks, and Python maps it. @module */
import { fstatSync } from 'node:fs'
import { TempFile } from '../../core/file/temp-file.ts'
import { bytesOf } from '../../core/memory/byte-copy.ts'
import type { MaybePromise } from '../../core/promise.ts'

/** Blocks begin at multiples of this, the widest vector registers. **Units**: bytes. */
const alignment = 64
/** An empty file above this size is given back to the system. **Units**: bytes. */
const maxIdleBytes = 64 * 1024 * 1024

/** A shared file, which ends with both processes. Has no room if no folder takes a file. */
export class SharedFile {
  readonly #file = openFile()
  readonly #blocks: { readonly start: number; readonly end: number }[] = []

  get fd(): number | undefined {
    return this.#file?.fd
  }

  /** Copies memory into a free block and returns its start; undefined without room. `isLater`: off the event loop. */
  write(view: ArrayBufferView, isLater: boolean): MaybePromise<number | undefined> {
    const file = this.#file
    if (file === undefined) return undefined
    const bytes = bytesOf(view)
    const start = this.#take(bytes.length)
    const giveBack = () => void this.free([start])
    try {
      if (isLater) return file.write(bytes, start).then(() => start, giveBack)
      file.writeSync(bytes, start)
      return start
    } catch {
      return giveBack()
    }
  }

  #take(length: number): number {
    let start = 0
    let place = 0
    for (; place < this.#blocks.length; place++) {
      if (this.#blocks[place].start - start >= length) break
      start = Math.ceil(this.#blocks[place].end / alignment) * alignment
    }
    this.#blocks.splice(place, 0, { start, end: start + length })
    return start
  }

  free(starts: readonly number[]): void {
    for (const start of starts) {
      const place = this.#blocks.findIndex((block) => block.start === start)
      if (place === -1) continue
      this.#blocks.splice(place, 1)
      const file = this.#file as TempFile
      if (this.#blocks.length === 0 && fstatSync(file.fd).size > maxIdleBytes) file.clear()
    }
  }

  /**
   * `isLater`: off the event loop.
   *
   * @returns a copy of what the other side wrote.
   * @throws Error if the file is shorter.
   */
  read(start: number, length: number, isLater: boolean): MaybePromise<ArrayBuffer> {
    if (this.#file === undefined) throw new Error('a view in a shared file that is not there')
    // Not of Node's pool: it may be moved.
    const bytes = Buffer.allocUnsafeSlow(length)
    if (isLater) return this.#file.read(bytes, start).then(() => bytes.buffer)
    this.#file.readIntoSync(bytes, start)
    return bytes.buffer
  }

  close(): void {
    this.#file?.release()
  }
}

function openFile(): TempFile | undefined {
  for (const folder of ['/dev/shm', undefined]) {
    try {
      return new TempFile(folder)
    } catch {}
  }
  return undefined
}
