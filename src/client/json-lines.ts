/** NDJSON, read: a JSON value on each line. @module */
import { parseJson } from './exact-json.ts'

/** The media type of such lines. */
export const jsonLines = 'application/x-ndjson'

/** Reads values from pieces of text. **Errors**: SyntaxError. */
export async function* parseLines(pieces: AsyncIterable<string>): AsyncGenerator<unknown, void, undefined> {
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() as string
    for (const line of lines) yield parseJson(line)
  }
}
