/** Where captures are: a folder or a bucket, and in it a folder for each API. @module */
import { readdir } from 'node:fs/promises'
import type { BlobStore } from '../jobs/blob-store.ts'
import { blobsOf } from '../jobs/open-store.ts'

/**
 * @param name - Of an API, for its folder. That of a model can have any letters.
 * @returns the place of its files, as stores of blobs name it.
 */
export function placeOf(to: string, name: string): string {
  const api = name.replace(/^\.+|[^\w.-]/g, '_')
  if (!to.startsWith('s3:')) return `${folderOf(to)}/${api}`
  const [bucket, query] = to.split('?', 2)
  return `${bucket.replace(/\/$/, '')}/${api}${query === undefined ? '' : `?${query}`}`
}

/** The files of one API. */
export interface CaptureFolder {
  readonly place: string
  readonly store: BlobStore
}

/**
 * @returns the folders of a capture, or the one of an API; of a bucket only that.
 * @throws those of `readdir` without such a folder.
 */
export async function foldersOf(place: string): Promise<CaptureFolder[]> {
  const entries = place.startsWith('s3:')
    ? []
    : await readdir(folderOf(place), { withFileTypes: true })
  const inner = entries.filter((entry) => entry.isDirectory())
  const places = inner.map(({ name }) => placeOf(place, name)).toSorted()
  const opened = [place, ...places].map(async (each) => ({
    place: each,
    store: await blobsOf(folderOf(each)),
  }))
  return Promise.all(opened)
}

/** @returns the names of the files of a store, the oldest first. */
export async function filesOf(store: BlobStore, before = Date.now()): Promise<string[]> {
  const names: string[] = []
  for await (const name of store.olderThan(before)) if (name.endsWith('.parquet')) names.push(name)
  return names.toSorted()
}

/**
 * Deletes the files that a capture wrote before a time.
 *
 * @returns their names.
 */
export async function prune(store: BlobStore, before: number): Promise<string[]> {
  // The folder may have files of others.
  const names = (await filesOf(store, before)).filter((name) => ownName.test(name))
  for (const name of names) await store.delete(name)
  return names
}

const ownName = /^\d{8}T\d{9}Z-[\da-f]{8}\.parquet$/

/** @returns a folder without the `file:` in front. */
function folderOf(place: string): string {
  return place.replace(/^file:/, '')
}
