import { type ApiInfo, queryId } from '../../client/description.ts'
import { appendPart, encodeQuery, fillPath } from '../../client/encode.ts'
import { jsonLines, parseEvents, textPieces } from '../../client/lines.ts'
import { errorOf, type ServingError } from '../../client/serving-error.ts'
import { headersOf } from '../../client/transport.ts'
import type { EventValue } from '../../client/values.ts'
import { answerView, textView } from './answer.ts'
import { facts, failure, h, sizeText, statusBadge } from './dom.ts'
import type { Content, ErrorLocation } from './field.ts'

/**
 * Sends a request. `credentials`: headers.
 *
 * @throws those of `fetch`.
 */
export async function send(
  api: ApiInfo,
  content: Content,
  base: string,
  credentials: Record<string, string>,
  signal: AbortSignal,
  params: Readonly<Record<string, string>>,
): Promise<Response> {
  const encoded = api.input.id === queryId ? undefined : { ...content, body: bodyOf(content) }
  const accept = 'application/json, */*;q=0.5'
  const headers = await headersOf(encoded, { headers: { accept, ...credentials } })
  const { method } = api
  return fetch(urlOf(api, content, base, params), { method, headers, body: encoded?.body, signal })
}

/**
 * @returns the URL of a call.
 * @throws ServingError for a parameter of the path without a value.
 */
export function urlOf(
  { name, path, input }: ApiInfo,
  { data }: Content,
  base: string,
  params: Readonly<Record<string, string>>,
): string {
  const query = input.id === queryId ? encodeQuery(JSON.parse(String(data)), 'the query') : ''
  return base + fillPath(path, params, name) + query
}

function bodyOf({ data, parts }: Content): string | Blob | FormData {
  if (parts === undefined) return data
  const form = new FormData()
  for (const [name, part] of parts) {
    appendPart(form, name, new Blob([part.data], { type: part.type }), part.name)
  }
  return form
}

/**
 * @returns the events of an answer, as they come.
 * @throws ServingError for another answer; those of `fetch`.
 */
export async function eventsOf(
  url: string,
  init: RequestInit,
): Promise<AsyncGenerator<EventValue>> {
  const response = await fetch(url, init)
  if (!response.ok) throw await errorOf(response)
  return parseEvents(textPieces(response.body))
}

/** Shows a response; returns where in the input its errors are. `started`: when it was sent. */
export async function showResponse(
  box: HTMLElement,
  response: Response,
  { output }: ApiInfo,
  started: number,
): Promise<ErrorLocation[]> {
  const line = h('p.facts')
  const type = response.headers.get('content-type') ?? ''
  const tell = (bytes: number) => {
    const shown = [
      `${Math.round(performance.now() - started)} ms`,
      sizeText(bytes),
      type.split(';')[0],
    ]
    const texts = shown.filter(Boolean).map((text) => h('span', text))
    line.replaceChildren(statusBadge(response.status), ...texts)
  }
  tell(Number(response.headers.get('content-length') ?? 0))
  const headers = facts(Object.fromEntries(response.headers))
  box.replaceChildren(line, h('details.raw', h('summary', 'Headers'), headers))
  if (!response.ok) return showError(box, await errorOf(response), response.status)
  const isEvents = type.startsWith('text/event-stream')
  if (
    type === jsonLines ||
    isEvents ||
    (type.startsWith('text/') && output.id === 'serving.io.Text')
  ) {
    await showText(box, textPieces(response.body, tell), isEvents)
    return []
  }
  const bytes = await response.arrayBuffer()
  tell(bytes.byteLength)
  box.append(await answerView(output, new Response(bytes, { headers: response.headers })))
  return []
}

async function showText(
  box: HTMLElement,
  pieces: AsyncIterable<string>,
  isEvents: boolean,
): Promise<void> {
  let text: HTMLElement | undefined
  const append = (piece: string) => {
    text ??= box.appendChild(textView(''))
    text.append(piece)
  }
  if (!isEvents) for await (const piece of pieces) append(piece)
  // Data without a name flows on, as the words of a model do; a named event has a line of its own.
  else {
    for await (const { event, id, data } of parseEvents(pieces)) {
      if (event === undefined || event === 'message') append(data)
      else {
        text = undefined
        const name = h('span.dim', [event, id].filter(Boolean).join(' '))
        box.append(h('p.event', name, ' ', data))
      }
    }
  }
  if (text === undefined && box.querySelector('.event') === null) append('')
}

/** Shows an error; returns where in the input it is. */
export function showError(box: HTMLElement, error: ServingError, status: number): ErrorLocation[] {
  const { message, code, reason, path, offset, issues, requestId } = error
  box.append(failure(message), facts({ code, reason, path, offset, 'request id': requestId }))
  if (status !== 400) return []
  if (issues.length === 0) return [{ message, offset, path }]
  return issues.map((issue) => ({ message: issue.message, path: issue.path, offset: undefined }))
}
