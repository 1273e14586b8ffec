import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { InsufficientStorage, InvalidArgument, NotFound, show } from '../core/errors.ts'
import type { BlobStore } from './blob-store.ts'

/** **Units**: bytes. */
const pieceBytes = 1024 * 1024

/** Codes of a disk that takes no more. */
const storageCodes: ReadonlySet<string | undefined> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EROFS',
])

const draftName = /^\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** Makes the folder when the first blob is written. */
export class FolderBlobs implements BlobStore {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(name)
    // A dot begins no name of a blob. Readers never see a part of the file.
    const draft = join(this.#folder, `.${randomUUID()}`)
    try {
      await sync(await this.#create(draft), bytes)
      const [folder] = await Promise.all([open(this.#folder), rename(draft, path)])
      // The name, too, must outlive a loss of power.
      await sync(folder)
    } catch (cause) {
      await rm(draft, { force: true })
      if (!storageCodes.has((cause as NodeJS.ErrnoException).code)) throw cause
      throw new InsufficientStorage('the folder of large bodies is full or read-only', { cause })
    }
  }

  async #create(path: string): Promise<FileHandle> {
    try {
      return await open(path, 'wx', 0o600)
    } catch (error) {
      if (!isMissing(error)) throw error
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      return open(path, 'wx', 0o600)
    }
  }

  async size(name: string): Promise<number> {
    return (await stat(this.#path(name)).catch((error) => this.#missing(name, error))).size
  }

  async *read(name: string): AsyncIterable<Uint8Array> {
    const file = await open(this.#path(name)).catch((error) => this.#missing(name, error))
    try {
      const { size } = await file.stat()
      for (let at = 0; at < size; ) {
        // Its own memory, all of which is read: a piece may be kept.
        const piece = Buffer.allocUnsafeSlow(Math.min(size - at, pieceBytes))
        const { bytesRead } = await file.read(piece, 0, piece.length, at)
        if (bytesRead === 0) return
        yield piece.subarray(0, bytesRead)
        at += bytesRead
      }
    } finally {
      await file.close()
    }
  }

  async delete(name: string): Promise<void> {
    await rm(this.#path(name), { force: true })
  }

  async *olderThan(time: number): AsyncIterable<string> {
    const files = await opendir(this.#folder).catch(ignoreMissing)
    for await (const { name } of files ?? []) {
      const path = join(this.#folder, name)
      const { mtimeMs = time } = (await stat(path).catch(ignoreMissing)) ?? {}
      if (mtimeMs >= time) continue
      if (!name.startsWith('.')) yield name
      // What a killed process left. One that lives writes its draft within the hour.
      else if (draftName.test(name) && mtimeMs < Date.now() - 3_600_000)
        await rm(path, { force: true })
    }
  }

  #missing(name: string, cause: unknown): never {
    throw isMissing(cause) ? new NotFound(`no blob ${name} in ${this.#folder}`, { cause }) : cause
  }

  #path(name: string): string {
    if (/^[\w-]{1,200}(\.parquet)?$/.test(name)) return join(this.#folder, name)
    throw new InvalidArgument(
      `expected the name of a blob, at most 200 of A-Z a-z 0-9 _ -, or a file of Parquet, got ${show(name)}`,
    )
  }
}

/** Writes a file, which outlives a loss of power then. Nobody waits until it is closed. */
async function sync(file: FileHandle, bytes?: Uint8Array): Promise<void> {
  try {
    if (bytes !== undefined) await file.writeFile(bytes)
    await file.sync()
  } finally {
    file.close().catch(() => {})
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
