import { parseJson } from './exact-json.ts'
import type { EventValue } from './values.ts'

/** The media type of lines with a JSON value each. */
export const jsonLines = 'application/x-ndjson'

/**
 * Reads values from pieces of text.
 *
 * @throws SyntaxError.
 */
export async function* parseLines(
  pieces: AsyncIterable<string>,
): AsyncGenerator<unknown, void, undefined> {
  for await (const line of linesOf(pieces, '\n')) yield parseJson(line)
}

/**
 * Reads events from pieces of text.
 *
 * @see WHATWG HTML, section "Server-sent events".
 */
export async function* parseEvents(
  pieces: AsyncIterable<string>,
): AsyncGenerator<EventValue, void, undefined> {
  let event: { data?: string; event?: string; id?: string; retry?: number } = {}
  // A CR at the end may be half of a CRLF.
  for await (const line of linesOf(pieces, /\r\n|\n|\r(?!$)/)) {
    if (line === '') {
      const { data, ...others } = event
      if (data !== undefined) yield { data, ...others }
      event = {}
      continue
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) as RegExpExecArray
    if (field === 'data') event.data = event.data === undefined ? value : `${event.data}\n${value}`
    else if (field === 'event' || field === 'id') event[field] = value
    else if (field === 'retry' && /^\d+$/.test(value)) event.retry = Number(value)
  }
}

/** Reads a body, if there is one, as text, piece by piece. `tell` gets the number of bytes that have come. */
export async function* textPieces(
  body: Response['body'],
  tell = (_bytes: number) => {},
): AsyncGenerator<string, void, undefined> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const piece = decoder.decode(value, { stream: !done })
      bytes += value?.length ?? 0
      tell(bytes)
      if (piece !== '') yield piece
      if (done) return
    }
  } finally {
    // Tells the server that nobody reads on.
    reader.cancel().catch(() => {})
  }
}

/** Splits pieces of text into lines, each of which has its end. */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  end: string | RegExp,
): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + piece).split(end)
    rest = lines.pop() as string
    yield* lines
  }
}
