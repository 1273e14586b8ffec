/** A file's bytes with its name and type, in memory or on disk. @module */
import { expected, InvalidArgument } from '../errors.ts'
import type { TempFile } from './temp-file.ts'

/** Name and type of a {@link BinaryFile}. */
export interface BinaryFileOptions {
  readonly name?: string
  /** Default `application/octet-stream`. */
  readonly mimeType?: string
}

/** A file whose `size` bytes are on disk. Kept off the class, so that functions see what is theirs. */
export let spooledFile: (disk: TempFile, size: number, options: BinaryFileOptions) => BinaryFile

const noBytes = new Uint8Array(0)
// A piece of a stream. Larger ones gain nothing: sockets take 16 KiB at a time.
const pieceBytes = 256 * 1024

/**
 * A file that a function receives or returns.
 *
 * **Cost**: large uploads are on disk; `stream()` reads them piece by piece, `bytes` loads them whole and blocks
 * meanwhile.
 * **Errors**: an uploaded file that is on disk is gone when its request is over; using it later throws.
 * **Example** `new BinaryFile(bytes, { name: 'report.pdf', mimeType: 'application/pdf' })`
 */
export class BinaryFile {
  /** The name that the client or the function gave it, without directories. Never a path to open. */
  readonly name: string | undefined
  /** The Content-Type that came with it; what a client says, not what the bytes are. */
  readonly mimeType: string
  /** **Units**: bytes. */
  readonly size: number
  #bytes: Uint8Array | undefined
  #file: TempFile | undefined

  constructor(bytes: Uint8Array, options: BinaryFileOptions = {}) {
    if (!(bytes instanceof Uint8Array)) throw new InvalidArgument(expected('a Uint8Array', 'BinaryFile', bytes))
    this.#bytes = bytes
    this.name = options.name
    this.mimeType = options.mimeType ?? 'application/octet-stream'
    this.size = bytes.length
  }

  /** All bytes. **Cost**: of a file on disk, a read that blocks, once. */
  get bytes(): Uint8Array {
    this.#bytes ??= (this.#file as TempFile).readSync(this.size)
    return this.#bytes
  }

  /** Whether the bytes are on disk and `bytes` was not asked for. */
  get isSpooled(): boolean {
    return this.#bytes === undefined
  }

  /**
   * Returns the bytes in pieces of at most 256 KiB; those of a file on disk lie in what `allocate` returns, by default
   * new memory.
   * **Cost**: holds one piece at a time.
   */
  async *stream(
    allocate: (size: number) => Uint8Array = Buffer.allocUnsafeSlow,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = 0; at < this.size; at += pieceBytes) {
      const length = Math.min(pieceBytes, this.size - at)
      if (this.#bytes !== undefined) {
        yield this.#bytes.subarray(at, at + length)
        continue
      }
      // Another buffer each time: sockets may still hold the last one.
      const piece = allocate(length)
      await (this.#file as TempFile).read(piece, at)
      yield piece
    }
  }

  static {
    spooledFile = (disk, size, options) => {
      const file = new BinaryFile(noBytes, options)
      file.#bytes = undefined
      file.#file = disk
      return Object.assign(file, { size })
    }
  }
}
