import { InternalError, ServingError } from '../core/errors.ts'
import { type BlobStore, maxInlineBytes } from './blob-store.ts'
import type { StoredRequest } from './job.ts'
import { StoredBody, type UnreadRequest } from './stored-body.ts'

/** The bytes, or the name of the blob that has them. */
export type KeptBody = Uint8Array | string

/** A request or response whose body may lie in a blob. */
export type Kept<T extends { readonly body: Uint8Array }> = Omit<T, 'body'> & {
  readonly body: KeptBody
}

/** How long no blob counts as an orphan: its job may not be stored yet. **Units**: milliseconds. */
const orphanMs = 3_600_000

/** Writes a large body as a blob, before the job that names it. A small one comes back unchanged. */
export async function keepBody<T extends { readonly body: Uint8Array }>(
  blobs: BlobStore,
  name: string,
  message: T,
): Promise<Kept<T>> {
  const { body } = message
  if (body.length > maxInlineBytes) {
    await blobs.put(name, body)
    return { ...message, body: name }
  }
  // A message to a thread would copy the whole buffer that a piece lies in.
  return body.length === body.buffer.byteLength
    ? message
    : { ...message, body: new Uint8Array(body) }
}

/**
 * @returns the request of an attempt, which reads its body.
 * @throws InternalError for a lost blob.
 */
export async function unread(blobs: BlobStore, kept: Kept<StoredRequest>): Promise<UnreadRequest> {
  return { ...kept, body: await bodyAt(blobs, kept.body) }
}

/**
 * @returns what reads a body.
 * @throws InternalError for a lost blob.
 */
export async function bodyAt(blobs: BlobStore, kept: KeptBody): Promise<StoredBody> {
  return typeof kept === 'string' ? blobBody(blobs, kept) : StoredBody.of(kept)
}

/**
 * @returns the body in a blob.
 * @throws InternalError for a lost blob.
 */
export async function blobBody(blobs: BlobStore, name: string): Promise<StoredBody> {
  return new StoredBody(await sizeOf(blobs, name), () => blobs.read(name))
}

/** A blob that a job names and nobody has is a fault of the store, and no 404. */
async function sizeOf(blobs: BlobStore, name: string): Promise<number> {
  return blobs.size(name).catch((cause) => {
    throw ServingError.is(cause) && cause.status === 404
      ? new InternalError('a stored body is lost', { cause })
      : cause
  })
}

/** The blob of a submitted body. */
export const requestBlob = (id: string): string => `${id}-request`
/** The blob of one attempt's answer: a late attempt must not write over the answer that counts. */
export const responseBlob = (id: string, attempt: number): string => `${id}-response-${attempt}`
/** The job that a blob belongs to. */
export const jobOfBlob = (name: string): string => name.replace(/-(?:request|response-[\d-]+)$/, '')

/** Deletes old blobs that no job names; stores call it hourly. `unnamed` returns those of the names that no job has. */
export async function sweepOrphans(
  blobs: BlobStore,
  unnamed: (names: readonly string[]) => Promise<readonly string[]>,
): Promise<void> {
  const names: string[] = []
  const drop = async () => {
    for (const name of await unnamed(names.splice(0))) await blobs.delete(name)
  }
  for await (const name of blobs.olderThan(Date.now() - orphanMs))
    if (names.push(name) === 100) await drop()
  if (names.length > 0) await drop()
}
