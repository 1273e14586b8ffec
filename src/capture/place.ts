/** Where captures are: a folder or a bucket, and in it a folder for each API. @module */
import { readdir } from 'node:fs/promises'
import type { BlobStore } from '../jobs/blob-store.ts'
import { blobsOf } from '../jobs/open-store.ts'

/**
 * @param api - The name of its folder.
 * @returns the place of the files of an API, as stores of blobs name it.
 */
export function placeOf(to: string, api: string): string {
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

/** @returns the names of the files that were written before a time, the oldest first. */
export async function filesOf(store: BlobStore, before = Date.now()): Promise<string[]> {
  const names: string[] = []
  for await (const name of store.olderThan(before)) if (name.endsWith('.parquet')) names.push(name)
  return names.toSorted()
}

/**
 * Deletes the files that were written before a time.
 *
 * @returns their names.
 */
export async function prune(store: BlobStore, before: number): Promise<string[]> {
  const names = await filesOf(store, before)
  for (const name of names) await store.delete(name)
  return names
}

/** @returns a folder without the `file:` in front. */
function folderOf(place: string): string {
  return place.replace(/^file:/, '')
}
