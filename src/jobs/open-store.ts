import { expected, InvalidArgument } from '../core/errors.ts'
import type { BlobStore } from './blob-store.ts'
import type { BullmqOptions } from './bullmq/bullmq-store.ts'
import { FolderBlobs } from './folder-blobs.ts'
import type { JobStore } from './job-store.ts'
import type { JobsOptions } from './jobs-options.ts'

/** The store of a service that does not name one. */
export const defaultStore = 'sqlite:./jobs.db'

/**
 * Opens a store. `warn`: told of faults of its server; `service`: the name of the one whose jobs it
 * has.
 *
 * @throws InvalidArgument; those of {@link JobStore.open}.
 */
export async function openStore(
  { store: given = defaultStore, blobs: place }: JobsOptions,
  warn: (message: string) => void,
  service?: string,
): Promise<JobStore> {
  const blobs = typeof place === 'string' ? await blobsOf(place) : place
  const store = typeof given === 'string' ? await storeOf(given, { blobs, warn, service }) : given
  await store.open()
  return store
}

/** @returns the optional packages that {@link openStore} loads, for builds. */
export function storePackages({ store, blobs }: JobsOptions): string[] {
  const ofStore = /^rediss?:/.test(String(store)) ? ['bullmq', 'ioredis'] : []
  return /^s3:/.test(String(blobs)) ? [...ofStore, 'aws4fetch'] : ofStore
}

async function storeOf(url: string, options: Omit<BullmqOptions, 'url'>): Promise<JobStore> {
  const file = /^sqlite:(.+)$/.exec(url)?.[1]
  if (file !== undefined)
    return (await import('./sqlite/sqlite-store.ts')).openSqliteStore(file, options)
  if (/^rediss?:\/\//.test(url))
    return (await import('./bullmq/bullmq-store.ts')).openBullmqStore({ url, ...options })
  throw new InvalidArgument(expected('sqlite:FILE or redis://HOST', 'the job store', url))
}

/**
 * @returns the store of a folder or a bucket.
 * @throws InvalidArgument, MissingDependencyException.
 */
export async function blobsOf(place: string): Promise<BlobStore> {
  if (place.startsWith('s3:')) return await (await import('./s3-blobs.ts')).s3Blobs(place)
  return new FolderBlobs(place)
}
