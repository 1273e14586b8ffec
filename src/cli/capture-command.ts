/** What `serving capture` tells of recorded calls, and how it deletes them. @module */
import { filesOf, foldersOf, prune } from '../capture/place.ts'
import { readCalls, rowText } from '../capture/read-rows.ts'
import { parseDuration } from '../core/text/units.ts'

/** Flags of the commands. */
export interface CaptureFlags {
  readonly limit: number
  readonly olderThan: string
}

/**
 * The commands by their names. They yield lines.
 *
 * @throws InvalidArgument for a folder that is not there, and for a wrong age.
 */
export const captureCommands = {
  /** The files of a capture, with their sizes. */
  async *ls(place: string) {
    for (const { place: folder, store } of await foldersOf(place))
      for (const file of await filesOf(store)) yield `${await store.size(file)}\t${folder}/${file}`
  },
  /** The latest calls of each folder as JSON. */
  async *show(place: string, { limit }: CaptureFlags) {
    for (const { store } of await foldersOf(place)) {
      let left = limit
      for (const file of (await filesOf(store)).toReversed()) {
        if (left <= 0) break
        for await (const { row } of readCalls(store, file)) if (left-- > 0) yield rowText(row)
      }
    }
  },
  /** Deletes files that are older than a time. */
  async *prune(place: string, { olderThan }: CaptureFlags) {
    const before = Date.now() - parseDuration('--older-than', olderThan)
    for (const { place: folder, store } of await foldersOf(place))
      for (const file of await prune(store, before)) yield `deleted ${folder}/${file}`
  },
}
