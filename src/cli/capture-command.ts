/** `serving capture`: looks at recorded calls, and deletes old files. @module */
import { filesOf, foldersOf, prune } from '../capture/place.ts'
import { readCalls, rowText } from '../capture/read-rows.ts'
import { parseDuration } from '../core/text/units.ts'

type Print = (text: string) => void

/**
 * Prints the files of a capture, with their sizes.
 *
 * @throws InvalidArgument for a folder that is not there.
 */
export async function listCapture(place: string, print: Print): Promise<void> {
  for (const { place: folder, store } of await foldersOf(place))
    for (const file of await filesOf(store)) print(`${await store.size(file)}\t${folder}/${file}\n`)
}

/**
 * Prints the latest calls of each folder as lines of JSON.
 *
 * @throws as {@link listCapture}.
 */
export async function showCapture(place: string, limit: number, print: Print): Promise<void> {
  for (const { store } of await foldersOf(place)) {
    let left = limit
    for (const file of (await filesOf(store)).toReversed()) {
      if (left <= 0) break
      for await (const { row } of readCalls(store, file)) if (left-- > 0) print(rowText(row))
    }
  }
}

/**
 * Deletes files that are older than a time, and prints their names.
 *
 * @throws as {@link listCapture}, and for a wrong age.
 */
export async function pruneCapture(place: string, age: string, print: Print): Promise<void> {
  const before = Date.now() - parseDuration('--older-than', age)
  for (const { place: folder, store } of await foldersOf(place))
    for (const file of await prune(store, before)) print(`deleted ${folder}/${file}\n`)
}
