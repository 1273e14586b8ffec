/** Memory shared with Python: an unnamed file, of which one side writes blocks, and Python maps it. @module */
import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Blocks begin at multiples of this, the widest vector registers. **Units**: bytes. */
const alignment = 64
/** An empty file above this size is given back to the system. **Units**: bytes. */
const maxIdleBytes = 64 * 1024 * 1024
/** Limit of one read or write call. **Units**: bytes. */
const callBytes = 1024 * 1024 * 1024

/** A shared file, unlinked once it is open, so that it ends with both processes. */
export class SharedFile {
  readonly fd: number
  readonly #blocks: { readonly start: number; readonly end: number }[] = []

  constructor() {
    this.fd = openUnnamed()
  }

  /** Copies memory into a free block and returns its start; undefined if there is no room. */
  write(view: ArrayBufferView): number | undefined {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    let start = 0
    let place = 0
    for (; place < this.#blocks.length; place++) {
      if (this.#blocks[place].start - start >= bytes.length) break
      start = Math.ceil(this.#blocks[place].end / alignment) * alignment
    }
    try {
      for (let at = 0; at < bytes.length; ) {
        at += writeSync(this.fd, bytes, at, Math.min(callBytes, bytes.length - at), start + at)
      }
    } catch {
      return undefined
    }
    this.#blocks.splice(place, 0, { start, end: start + bytes.length })
    return start
  }

  free(starts: readonly number[]): void {
    if (starts.length === 0) return
    for (const start of starts) {
      const place = this.#blocks.findIndex((block) => block.start === start)
      if (place !== -1) this.#blocks.splice(place, 1)
    }
    if (this.#blocks.length === 0 && fstatSync(this.fd).size > maxIdleBytes) ftruncateSync(this.fd, 0)
  }

  /** Returns a copy of what the other side wrote. **Errors**: Error if the file is shorter. */
  read(start: number, length: number): ArrayBuffer {
    // Not of Node's pool: it may be moved.
    const bytes = Buffer.allocUnsafeSlow(length)
    for (let at = 0; at < length; ) {
      const count = readSync(this.fd, bytes, at, Math.min(callBytes, length - at), start + at)
      if (count === 0) throw new Error(`a shared file ends at ${start + at}, before the end of an array`)
      at += count
    }
    return bytes.buffer as ArrayBuffer
  }

  close(): void {
    closeSync(this.fd)
  }
}

function openUnnamed(): number {
  const name = `serving-${randomUUID()}`
  const open = (folder: string) => {
    const path = join(folder, name)
    const fd = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    return fd
  }
  try {
    return open('/dev/shm')
  } catch {
    return open(tmpdir())
  }
}
