/** Bodies above this many bytes are kept as blobs. **Units**: bytes. */
export const maxInlineBytes = 1024 * 1024

/** A folder, which several machines may share, or a bucket. Names are made by the job store, of `[A-Za-z0-9_-]`. */
export interface BlobStore {
  /** Resolves when the bytes outlive the process. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /**
   * **Units**: bytes.
   *
   * @throws NotFound if there is no such blob.
   */
  size(name: string): Promise<number>
  /**
   * Gives pieces of at most 1 MiB. Opens nothing before the first one.
   *
   * @throws NotFound.
   */
  read(name: string): AsyncIterable<Uint8Array>
  /** A blob that is gone already is no error. */
  delete(name: string): Promise<void>
  /**
   * @returns the names of blobs last written before a time: of those, what no job names is an
   * orphan.
   */
  olderThan(time: number): AsyncIterable<string>
}
