/**
 * Uploads that are held in memory, as far as there is memory.
 * @module
 */
import { BadInput } from '../errors.ts'
import { BinaryFile, type BinaryFileOptions } from '../file/binary-file.ts'
import type { Context } from '../http/context.ts'
import { youngOf } from '../memory/young-buffer.ts'
import type { BodyReceiver } from './descriptor.ts'

// Longer ones always go to disk. **Units**: bytes.
const maxBytes = 64 * 1024 * 1024
// Up to this size memory is not asked for. **Units**: bytes.
const freeBytes = 4 * 1024 * 1024
// The share of the memory that the system has left which uploads may take together.
const share = 1 / 8
// Memory reserved before that much has come: a false length costs no more. **Units**: bytes.
const firstBytes = 1024 * 1024

/** Of all uploads that are held because there was memory. **Units**: bytes. */
let held = 0

/**
 * Whether an upload of that announced length should be held in memory although nothing else was asked for: up to 4 MiB
 * always, up to 64 MiB while all such uploads take at most an eighth of the memory that this process could still get.
 * **Cost**: 20 µs above 4 MiB.
 */
export function hasMemoryFor(bytes: number): boolean {
  return bytes <= freeBytes || (bytes <= maxBytes && held + bytes <= process.availableMemory() * share)
}

/**
 * Collects a body of known length in one piece of memory.
 *
 * **Cost**: one copy; of a body above 1 MiB the first MiB is copied again.
 */
export class HeldUpload implements BodyReceiver<BinaryFile> {
  readonly #options: BinaryFileOptions
  readonly #size: number
  #bytes: Uint8Array<ArrayBuffer>
  #length = 0

  /** `size`: the Content-Length. **Units**: bytes. */
  constructor(options: BinaryFileOptions, size: number, ctx: Context) {
    this.#options = options
    this.#size = size
    this.#bytes = allocate(Math.min(size, firstBytes))
    held += size
    ctx.onEnd(() => {
      held -= size
    })
  }

  write(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#size)
      throw new BadInput(`expected ${this.#size} bytes for a file, received more`, { reason: 'size' })
    if (length > this.#bytes.length) {
      const whole = allocate(this.#size)
      whole.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = whole
    }
    this.#bytes.set(piece, this.#length)
    this.#length = length
  }

  end(): BinaryFile {
    // A socket gives as many bytes as were announced; other callers may not.
    if (this.#length < this.#bytes.length) this.#bytes = this.#bytes.slice(0, this.#length)
    return new BinaryFile(new Uint8Array(youngOf(this.#bytes.buffer)), this.#options)
  }

  abort(): void {
    this.#bytes = new Uint8Array(0)
  }
}

function allocate(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(size).buffer)
}
