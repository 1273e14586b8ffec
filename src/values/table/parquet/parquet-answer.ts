/** The messages between the Parquet decoder and its parent. @module */

/** The numbers of a request, each as a float64. */
export const requestNumbers = [
  'fileBytes',
  'isArrow',
  'maxDecodedBytes',
  'maxRows',
  'maxColumns',
  'maxCells',
  'maxDepth',
  'maxSchemaElements',
  'maxUnpackedBytes',
] as const

/** The numbers of a request, by name. */
export type ParquetRequest = Readonly<Record<(typeof requestNumbers)[number], number>>

/** The kinds of answer, sent by index. `frame`: descriptor 6 holds an Arrow file; else it holds a text. */
export const answers = ['ready', 'frame', 'refused', 'above', 'undecodable', 'too large', 'no space'] as const

/** The kind of a child's answer. */
export type ParquetAnswer = (typeof answers)[number]

/** Whether bytes are those of an Arrow IPC stream: the marker of its first message, in which no text is UTF-8. */
export function isArrowStream(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && bytes.subarray(0, 4).every((byte) => byte === 0xff)
}

/** Maximum length of a message. **Units**: bytes. */
export const maxMessageBytes = 2 ** 16
