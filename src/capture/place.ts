/** Where captures are: a folder or a bucket, and in it a folder for each API. @module */
import { readdir } from 'node:fs/promises'
import { InvalidArgument } from '../core/errors.ts'
import type { BlobStore } from '../jobs/blob-store.ts'
import { blobsOf } from '../jobs/open-store.ts'

/**
 * @param name - Of an API, for its folder. That of a model can have any letters.
 * @returns the place of its files, as stores of blobs name it.
 */
export function placeOf(to: string, name: string): string {
  const api = name.replace(/^\.+|[^\w.-]/g, '_')
  if (!to.startsWith('s3:')) return `${to.replace(/^file:/, '')}/${api}`
  return to.replace(/\/?(\?.*)?$/, `/${api}$1`)
}

/** The files of one API. */
export interface CaptureFolder {
  readonly place: string
  readonly store: BlobStore
}

/**
 * @returns the folders of a capture, or the one of an API; of a bucket only that.
 * @throws InvalidArgument without such a folder.
 */
export async function foldersOf(given: string): Promise<CaptureFolder[]> {
  const place = given.replace(/^file:/, '')
  const entries = place.startsWith('s3:')
    ? []
    : await readdir(place, { withFileTypes: true }).catch((cause: Error) => {
        const message = `there is no folder ${place}: name the place of the option capture`
        throw new InvalidArgument(`${message} (${cause.message})`, { cause })
      })
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const places = [place, ...names.toSorted().map((name) => `${place}/${name}`)]
  return Promise.all(places.map(async (each) => ({ place: each, store: await blobsOf(each) })))
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
