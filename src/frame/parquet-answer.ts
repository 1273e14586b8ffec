/**
 * What the two sides of the Parquet wall have in common.
 * @module
 */

/** What a child answers, by the number that it sends. With `frame` and `undecodable` a file holds an Arrow file or a message. */
export const answers = ['ready', 'frame', 'undecodable', 'too large', 'no space'] as const

/** What a child answers. */
export type ParquetAnswer = (typeof answers)[number]

/** A message is this long at most. **Units**: bytes. */
export const maxMessageBytes = 2 ** 16
