/**
 * The messages of the Parquet decoder to its parent.
 * @module
 */

/**
 * The kinds of answer; a child sends the index of one. `frame`: descriptor 6 holds an Arrow file; `undecodable`: it
 * holds a message.
 */
export const answers = ['ready', 'frame', 'undecodable', 'too large', 'no space'] as const

/** The kind of a child's answer. */
export type ParquetAnswer = (typeof answers)[number]

/** Maximum length of a message. **Units**: bytes. */
export const maxMessageBytes = 2 ** 16
