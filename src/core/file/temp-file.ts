import {
  close,
  closeSync,
  ftruncateSync,
  openSync,
  read,
  readSync,
  unlinkSync,
  write,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { randomId } from '../platform.ts'

const readAsync = promisify(read)
const writeAsync = promisify(write)
// The largest single read or write that Node allows is 2^31-1 bytes.
const maxCallBytes = 1024 ** 3

/** An open file. It is closed by `release`. */
export class DiskFile {
  readonly #fd: number
  // A closed descriptor's number is reused: closing waits for reads and writes under way.
  #users = 0
  #released = false

  constructor(fd: number) {
    this.#fd = fd
  }

  /** `bytes` must not change until the promise settles. */
  write(bytes: Uint8Array, position: number): Promise<void> {
    return this.#useLater(bytes, position, async (...part) => {
      const { bytesWritten } = await writeAsync(this.#fd, bytes, ...part)
      return bytesWritten
    })
  }

  /** As `write`, but blocks. */
  writeSync(bytes: Uint8Array, position: number): void {
    this.#use()
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(
        this.#fd,
        bytes,
        done,
        Math.min(bytes.length - done, maxCallBytes),
        position + done,
      )
    }
  }

  read(bytes: Uint8Array, position: number): Promise<void> {
    return this.#useLater(bytes, position, async (...part) => {
      const { bytesRead } = await readAsync(this.#fd, bytes, ...part)
      return requireBytes(bytesRead)
    })
  }

  /** Reads the first `size` bytes. Blocks. */
  readSync(size: number): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(size)
    this.readIntoSync(bytes)
    return bytes
  }

  /** Fills `bytes` with those from `position` on. Blocks. */
  readIntoSync(bytes: Uint8Array, position = 0): void {
    this.#use()
    for (let done = 0; done < bytes.length; ) {
      const size = Math.min(bytes.length - done, maxCallBytes)
      done += requireBytes(readSync(this.#fd, bytes, done, size, position + done))
    }
  }

  /** For a child process to inherit. */
  get fd(): number {
    return this.#fd
  }

  /** Frees the disk space, and keeps the file. */
  clear(): void {
    this.#use()
    ftruncateSync(this.#fd)
  }

  /** Frees the disk space. Idempotent. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.#closeUnused()
  }

  #use(): void {
    if (!this.#released) return
    throw new Error(
      'the file was used after its request had ended; a function that runs on must copy what it needs before',
    )
  }

  /** Calls `work`, which says how many bytes are done, with the rest. */
  async #useLater(
    { length }: Uint8Array,
    position: number,
    work: (done: number, left: number, position: number) => Promise<number>,
  ): Promise<void> {
    this.#use()
    this.#users++
    try {
      for (let done = 0; done < length; ) done += await work(done, length - done, position + done)
    } finally {
      this.#users--
      if (this.#released) this.#closeUnused()
    }
  }

  #closeUnused(): void {
    // Not awaited: a failure cannot be handled.
    if (this.#users === 0) close(this.#fd, () => {})
  }
}

/**
 * Bytes on disk in `directory`, default `os.tmpdir()`. The name is removed once the file is open,
 * so a killed process leaves no file.
 *
 * @throws those of the disk.
 */
export class TempFile extends DiskFile {
  constructor(directory: string = tmpdir()) {
    super(openUnnamed(join(directory, `serving-${randomId()}`)))
  }
}

function openUnnamed(path: string): number {
  const fd = openSync(path, 'wx+', 0o600)
  try {
    unlinkSync(path)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  return fd
}

/** @returns why `os.tmpdir()` takes no temporary file; undefined if it does. */
export function tempFileFault(): Error | undefined {
  try {
    new TempFile().release()
    return undefined
  } catch (error) {
    return error as Error
  }
}

function requireBytes(count: number): number {
  if (count === 0) throw new Error('the file is shorter than it was')
  return count
}
