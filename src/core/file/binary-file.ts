import { checkThat } from '../options.ts'
import { shareClass } from '../share-class.ts'
import type { DiskFile } from './temp-file.ts'

/** What tells a file on disk from its earlier states. */
export interface FileState {
  readonly etag: string
  /** **Units**: milliseconds of the wall clock. */
  readonly modifiedAt: number
}

/** Name and type of a {@link BinaryFile}. */
export interface BinaryFileOptions {
  readonly name?: string
  /** @default `application/octet-stream` */
  readonly mimeType?: string
}

const noBytes = new Uint8Array(0)
// Sockets take 16 KiB at a time, so larger pieces gain nothing.
const pieceBytes = 256 * 1024

/**
 * A file that a function receives or returns. A large upload is on disk: `bytes` loads it whole and
 * blocks meanwhile, and use after its request throws.
 *
 * @example
 * `new BinaryFile(bytes, { name: 'report.pdf', mimeType: 'application/pdf' })`
 */
export class BinaryFile {
  /** The name that the client or function gave, without directories. Never a path to open. */
  readonly name: string | undefined
  /** The stated Content-Type; the bytes may be of another. */
  readonly mimeType: string
  /** **Units**: bytes. */
  readonly size: number
  #bytes: Uint8Array | undefined
  #file: DiskFile | undefined
  /** @internal Of a file that has a name on the disk. */
  readonly state: FileState | undefined

  constructor(bytes: Uint8Array, options: BinaryFileOptions = {}) {
    checkThat(bytes instanceof Uint8Array, 'a Uint8Array', 'BinaryFile', bytes)
    this.#bytes = bytes
    this.name = options.name
    this.mimeType = options.mimeType ?? 'application/octet-stream'
    this.size = bytes.length
  }

  /** @internal Makes a file whose `size` bytes are on disk. */
  static onDisk(
    disk: DiskFile,
    size: number,
    options: BinaryFileOptions,
    state?: FileState,
  ): BinaryFile {
    const file = new BinaryFile(noBytes, options)
    file.#bytes = undefined
    file.#file = disk
    return Object.assign(file, { size, state })
  }

  /** All bytes; blocks to read a file on disk, once. */
  get bytes(): Uint8Array {
    this.#bytes ??= (this.#file as DiskFile).readSync(this.size)
    return this.#bytes
  }

  /** Whether the bytes are on disk only. */
  get isSpooled(): boolean {
    return this.#bytes === undefined
  }

  /**
   * @returns pieces of at most 256 KiB, from one offset to another; those from disk lie in what
   * `allocate` returns, by default new memory.
   */
  async *stream(
    allocate: (size: number) => Uint8Array = Buffer.allocUnsafeSlow,
    start = 0,
    end: number = this.size,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = start; at < end; at += pieceBytes) {
      const length = Math.min(pieceBytes, end - at)
      if (this.#bytes !== undefined) {
        yield this.#bytes.subarray(at, at + length)
        continue
      }
      // A new buffer each time: sockets may still hold the last one.
      const piece = allocate(length)
      await (this.#file as DiskFile).read(piece, at)
      yield piece
    }
  }
}
shareClass(BinaryFile, 'BinaryFile')
