import { InsufficientStorage, Overloaded } from '../core/errors.ts'
import { BinaryFile, type BinaryFileOptions } from '../core/file/binary-file.ts'
import { TempFile } from '../core/file/temp-file.ts'
import { bufferPool } from '../core/memory/buffer-pool.ts'
import type { Context } from '../http/context.ts'
import type { BodyReceiver } from './descriptor.ts'

const blockBytes = 256 * 1024
/** Uploads above this size are on disk, unless an option says otherwise. **Units**: bytes. */
export const defaultSpoolAboveBytes = 4 * 1024 * 1024
// Share of an announced length that must come before its memory is taken: clients may announce more than they send.
const minShare = 1 / 4
// Largest body that gets memory of its announced length. **Units**: bytes.
const maxWholeBytes = 4 * defaultSpoolAboveBytes
// Blocks on their way to disk above which the socket is asked to pause.
const maxWriting = 2
// Blocks on their way to disk above which writes are synchronous: uWebSockets.js can read many more before it pauses.
const maxLate = 16

/** Collects a body in blocks; above `spoolAboveBytes` they move to a temporary file, and at most 20 stay in memory. */
export class Spooler implements BodyReceiver<BinaryFile> {
  readonly #options: BinaryFileOptions
  readonly #spoolAboveBytes: number
  readonly #ctx: Context
  /** Announced length of a body that stays in memory. */
  #declared: number | undefined
  #whole: Buffer | undefined
  #filled = 0
  #blocks: Buffer[] = []
  // Bytes in the last block and in those passed on for writing.
  #used = blockBytes
  #written = 0
  #file: TempFile | undefined
  readonly #writing = new Set<Promise<void>>()
  #failed: { readonly error: unknown } | undefined

  /** `declared`: the announced length, which the body keeps to. **Units**: bytes. */
  constructor(
    options: BinaryFileOptions,
    spoolAboveBytes: number | undefined,
    ctx: Context,
    declared = Infinity,
  ) {
    this.#options = options
    this.#spoolAboveBytes = spoolAboveBytes ?? defaultSpoolAboveBytes
    this.#ctx = ctx
    this.#declared =
      declared <= Math.min(spoolAboveBytes ?? maxWholeBytes, maxWholeBytes) ? declared : undefined
  }

  write(piece: Uint8Array): void | Promise<void> {
    if (this.#declared !== undefined && this.#size + piece.length >= minShare * this.#declared) {
      if (this.#whole !== undefined || this.#hasRoom(this.#declared)) {
        this.#whole ??= this.#join(this.#declared)
        this.#whole.set(piece, this.#filled)
        this.#filled += piece.length
        return undefined
      }
      this.#declared = undefined
    }
    for (let at = 0; at < piece.length; ) {
      if (this.#used === blockBytes) {
        this.#blocks.push(Buffer.from(bufferPool.take(blockBytes), 0, blockBytes))
        this.#used = 0
      }
      const taken = Math.min(piece.length - at, blockBytes - this.#used)
      ;(this.#blocks.at(-1) as Buffer).set(piece.subarray(at, at + taken), this.#used)
      this.#used += taken
      at += taken
    }
    if (this.#file === undefined && this.#size <= this.#spoolAboveBytes) return undefined
    if (this.#file === undefined) {
      const file = openTempFile()
      this.#file = file
      this.#ctx.onEnd(() => file.release())
    }
    while (this.#blocks.length > 1)
      this.#store(this.#file, this.#blocks.shift() as Buffer, blockBytes)
    this.#checkStored()
    if (this.#writing.size <= maxWriting) return undefined
    const [oldest] = this.#writing
    return oldest.then(() => this.#checkStored())
  }

  end(): BinaryFile | Promise<BinaryFile> {
    const size = this.#size
    const file = this.#file
    if (file === undefined) return new BinaryFile(this.#whole ?? this.#join(size), this.#options)
    const last = this.#blocks.pop()
    if (last !== undefined) this.#store(file, last, this.#used)
    return Promise.all(this.#writing).then(() => {
      this.#checkStored()
      return BinaryFile.onDisk(file, size, this.#options)
    })
  }

  abort(): void {
    for (const block of this.#blocks) giveBack(block)
    this.#blocks = []
    this.#whole = undefined
    this.#file?.release()
  }

  /** Counts the memory of a body that could be on disk. */
  #hasRoom(declared: number): boolean {
    return declared <= this.#spoolAboveBytes || this.#ctx.reserve(declared, true)
  }

  get #size(): number {
    const { length } = this.#blocks
    return (
      this.#filled + this.#written + (length === 0 ? 0 : (length - 1) * blockBytes + this.#used)
    )
  }

  #join(length: number): Buffer {
    // Of exact size: a small file must not keep a block alive.
    const bytes = Buffer.allocUnsafeSlow(length)
    const size = this.#size
    for (const [index, block] of this.#blocks.entries()) {
      block.copy(bytes, index * blockBytes, 0, Math.min(blockBytes, size - index * blockBytes))
      giveBack(block)
    }
    this.#blocks = []
    this.#filled = size
    return bytes
  }

  #store(file: TempFile, block: Buffer, length: number): void {
    const bytes = block.subarray(0, length)
    const position = this.#written
    this.#written += length
    if (this.#writing.size >= maxLate) {
      try {
        file.writeSync(bytes, position)
      } catch (error) {
        this.#failed ??= { error }
      }
      giveBack(block)
      return
    }
    const writing = file
      .write(bytes, position)
      .catch((error: unknown) => {
        this.#failed ??= { error }
      })
      .finally(() => {
        this.#writing.delete(writing)
        giveBack(block)
      })
    this.#writing.add(writing)
  }

  #checkStored(): void {
    if (this.#failed !== undefined) throw storageError(this.#failed.error)
  }
}

function giveBack(block: Buffer): void {
  bufferPool.give(block.buffer as ArrayBuffer)
}

/** @throws Overloaded if no file descriptor is free, otherwise those of the disk. */
function openTempFile(): TempFile {
  try {
    return new TempFile()
  } catch (error) {
    throw storageError(error)
  }
}

/** Lack of space or of descriptors may pass; other errors are faults of the setup. */
function storageError(cause: unknown): unknown {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? ''
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code))
    return new InsufficientStorage('no space is left on the disk for uploads', { cause })
  if (['EMFILE', 'ENFILE'].includes(code))
    return new Overloaded('too many files are open', { cause })
  return cause
}
