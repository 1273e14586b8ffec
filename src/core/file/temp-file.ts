/** A file without a name, which holds what is too large for memory. @module */
import { randomUUID } from 'node:crypto'
import { close, closeSync, ftruncateSync, openSync, read, readSync, unlinkSync, write, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const readAsync = promisify(read)
const writeAsync = promisify(write)
// The largest single read that Node allows is 2^31-1 bytes.
const maxReadBytes = 1024 ** 3

/**
 * Bytes on disk in `directory`, by default `os.tmpdir()` (the environment's TMPDIR chooses the disk; some systems keep
 * /tmp in memory).
 *
 * The name is removed as soon as the file is open, so that nothing is left behind even when the process is killed. On
 * Windows, too, an open file can be deleted: its name is gone at once from Windows 10 on, before that when it is
 * closed.
 * **Errors**: those of the disk, as Node gives them.
 */
export class TempFile {
  readonly #fd: number
  // The number of a closed descriptor is reused: closing waits for reads and writes that are under way.
  #users = 0
  #released = false

  constructor(directory: string = tmpdir()) {
    const path = join(directory, `serving-${randomUUID()}`)
    this.#fd = openSync(path, 'wx+', 0o600)
    try {
      unlinkSync(path)
    } catch (error) {
      closeSync(this.#fd)
      throw error
    }
  }

  /** Writes all of `bytes` at a place. They must not change until the promise settles. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    this.#use()
    try {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await writeAsync(this.#fd, bytes, done, bytes.length - done, position + done)
        done += bytesWritten
      }
    } finally {
      this.#leave()
    }
  }

  /** As `write`, at once. **Cost**: blocks until the disk has taken them. */
  writeSync(bytes: Uint8Array, position: number): void {
    this.#use()
    try {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.#fd, bytes, done, bytes.length - done, position + done)
      }
    } finally {
      this.#leave()
    }
  }

  /** Reads `bytes.length` bytes from a place. */
  async read(bytes: Uint8Array, position: number): Promise<void> {
    this.#use()
    try {
      for (let done = 0; done < bytes.length; ) {
        const { bytesRead } = await readAsync(this.#fd, bytes, done, bytes.length - done, position + done)
        done += requireBytes(bytesRead)
      }
    } finally {
      this.#leave()
    }
  }

  /** Reads the first `size` bytes. **Cost**: blocks until the disk has given them. */
  readSync(size: number): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(size)
    this.readIntoSync(bytes)
    return bytes
  }

  /** Fills `bytes` with the file's first ones. **Cost**: blocks until the disk has given them. */
  readIntoSync(bytes: Uint8Array): void {
    this.#use()
    try {
      for (let done = 0; done < bytes.length; ) {
        done += requireBytes(readSync(this.#fd, bytes, done, Math.min(bytes.length - done, maxReadBytes), done))
      }
    } finally {
      this.#leave()
    }
  }

  /** The file's descriptor, for a child process to inherit. */
  get fd(): number {
    return this.#fd
  }

  /** Frees the disk space, and keeps the file. */
  clear(): void {
    this.#use()
    try {
      ftruncateSync(this.#fd)
    } finally {
      this.#leave()
    }
  }

  /** Frees the disk space. Idempotent. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.#closeUnused()
  }

  #use(): void {
    if (this.#released) {
      throw new Error(
        'the file was used after its request had ended; a function that runs on must copy what it needs before',
      )
    }
    this.#users++
  }

  #leave(): void {
    this.#users--
    if (this.#released) this.#closeUnused()
  }

  #closeUnused(): void {
    // Not awaited: there is nothing to do about a failure.
    if (this.#users === 0) close(this.#fd, () => {})
  }
}

/** Returns why no temporary file can be made in `os.tmpdir()`; undefined when one can. */
export function tempFileFault(): Error | undefined {
  try {
    new TempFile().release()
    return undefined
  } catch (error) {
    return error as Error
  }
}

function requireBytes(count: number): number {
  if (count === 0) throw new Error('the temporary file is shorter than what was written to it')
  return count
}
