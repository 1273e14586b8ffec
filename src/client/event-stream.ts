/** Server-sent events, read. @module */
import type { EventValue } from './values.ts'

/** Reads events from pieces of text. **Source**: WHATWG HTML, section "Server-sent events". */
export async function* parseEvents(pieces: AsyncIterable<string>): AsyncGenerator<EventValue, void, undefined> {
  let rest = ''
  let event: { data?: string; event?: string; id?: string; retry?: number } = {}
  for await (const piece of pieces) {
    rest += piece
    // A CR at the end may be half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() as string
    for (const line of lines) {
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
}
