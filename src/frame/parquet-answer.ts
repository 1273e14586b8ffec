/**
 * The messages of the Parquet decoder to its parent.
 * @module
 */

/**
 * What a child answers, at the place of the number that it sends. `frame`: descriptor 6 holds an Arrow file;
 * `undecodable`: a message.
 */
export const answers = ['ready', 'frame', 'undecodable', 'too large', 'no space'] as const

/** What a child answers. */
export type ParquetAnswer = (typeof answers)[number]

/** Maximum length of a message. **Units**: bytes. */
export const maxMessageBytes = 2 ** 16
