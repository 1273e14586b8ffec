/** One API: its form, its answer, and the call in other languages. @module */
import type { ApiInfo, DescriptorInfo } from '../../client/description.ts'
import { encodeQuery } from '../../client/encode.ts'
import { jsonLines, parseEvents } from '../../client/lines.ts'
import { errorOf, type ServingError } from '../../client/serving-error.ts'
import { answerView, textView } from './answer.ts'
import { choice, h, sizeText } from './dom.ts'
import type { Content, ErrorLocation, Field } from './field.ts'
import { fieldOf } from './fields.ts'
import { languages, snippet } from './snippets.ts'

/** What the page knows of the service. */
export interface Page {
  readonly base: string
  readonly document: unknown
  readonly headers: () => Record<string, string>
}

/** The form of an API with its answers. */
export class ApiView {
  readonly element: HTMLElement
  readonly #api: ApiInfo
  readonly #page: Page
  readonly #field: Field
  readonly #answer = h('section', { class: 'answer', 'aria-label': 'answer', 'aria-live': 'polite' })
  readonly #code = h('pre', { tabindex: '0', 'aria-label': 'the call as code' })
  readonly #send: HTMLButtonElement
  #language: (typeof languages)[number] = 'curl'
  #running: AbortController | undefined

  constructor(api: ApiInfo, page: Page) {
    this.#api = api
    this.#page = page
    this.#field = fieldOf(api.input, 'the input', page.document)
    this.#send = h('button', { type: 'submit', class: 'send' }, 'Send')
    const form = h(
      'form',
      {
        onsubmit: (event: Event) => {
          event.preventDefault()
          this.#submit()
        },
        onkeydown: (event: KeyboardEvent) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          this.#submit()
        },
        oninput: () => this.#showCode(),
        onclick: () => this.#showCode(),
      },
      this.#field.element,
      h('div', { class: 'tools' }, this.#send, h('span', { class: 'dim' }, 'Ctrl + Enter')),
    )
    const copied = h('span', { class: 'dim', role: 'status' })
    const copy = async () => {
      await navigator.clipboard?.writeText(this.#code.textContent ?? '')
      copied.textContent = 'copied'
    }
    const code = h(
      'details',
      { class: 'code-panel' },
      h('summary', {}, 'This call in curl, Python, TypeScript'),
      choice('language', languages, (chosen) => {
        this.#language = languages[chosen]
        this.#showCode()
      }),
      this.#code,
      h('div', { class: 'tools' }, h('button', { type: 'button', onclick: copy }, 'Copy'), copied),
    )
    this.element = h(
      'article',
      {},
      h('h2', { tabindex: '-1' }, api.name),
      h('p', { class: 'route' }, h('code', {}, `${api.method} ${page.base.replace(location.origin, '')}${api.path}`)),
      api.doc && h('p', {}, api.doc),
      h('p', { class: 'dim' }, `${titleOf(api.input)} → ${titleOf(api.output, ['mime_type', 'content_type'])}`),
      form,
      this.#answer,
      code,
    )
    this.#showCode()
  }

  leave(): void {
    this.#running?.abort()
  }

  #showCode(): void {
    if (this.#field === undefined) return
    let text: string
    try {
      text = snippet(this.#language, this.#api, this.#field.read(), this.#page.base)
    } catch (error) {
      text = (error as Error).message
    }
    this.#code.textContent = text
  }

  async #submit(): Promise<void> {
    if (this.#running !== undefined) {
      this.#running.abort()
      return
    }
    this.#field.clear()
    const running = new AbortController()
    this.#running = running
    this.#send.textContent = 'Stop'
    const started = performance.now()
    try {
      const content = this.#field.read()
      const { base, headers } = this.#page
      const { method, path } = this.#api
      const isGet = method === 'GET'
      const query = isGet ? encodeQuery(JSON.parse(String(content.data)), 'the query') : ''
      const response = await fetch(base + path + query, {
        method,
        headers: {
          ...(isGet ? {} : headersOf(content)),
          accept: 'application/json, */*;q=0.5',
          'x-request-id': `page-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`,
          ...headers(),
        },
        body: isGet ? undefined : bodyOf(content),
        signal: running.signal,
      })
      await this.#show(response, started)
    } catch (error) {
      const text = running.signal.aborted ? 'Stopped.' : (error as Error).message
      this.#answer.append(h('p', { class: 'failure', role: 'alert' }, text))
    } finally {
      this.#running = undefined
      this.#send.textContent = 'Send'
    }
  }

  async #show(response: Response, started: number): Promise<void> {
    const facts = h('p', { class: 'facts' })
    const tell = (bytes: number) => {
      const shown = [
        `${Math.round(performance.now() - started)} ms`,
        sizeText(bytes),
        response.headers.get('content-type')?.split(';')[0] ?? '',
        response.headers.get('x-request-id') ?? '',
      ]
      const status = h('span', { class: response.ok ? 'status' : 'status failed' }, response.status)
      facts.replaceChildren(status, ...shown.filter(Boolean).map((text) => h('span', {}, text)))
    }
    tell(Number(response.headers.get('content-length') ?? 0))
    this.#answer.replaceChildren(h('h3', {}, 'Answer'), facts)
    if (!response.ok) return this.#fail(response, tell)
    const type = response.headers.get('content-type') ?? ''
    if (type === jsonLines || (type.startsWith('text/') && this.#api.output.id === 'serving.io.Text')) {
      return this.#showText(response, tell)
    }
    const bytes = await response.arrayBuffer()
    tell(bytes.byteLength)
    this.#answer.append(await answerView(this.#api.output, new Response(bytes, { headers: response.headers })))
  }

  async #showText(response: Response, tell: (bytes: number) => void): Promise<void> {
    const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream')
    const pieces = piecesOf(response, tell)
    let text: HTMLElement | undefined
    const append = (piece: string) => {
      if (text === undefined) {
        text = textView('')
        this.#answer.append(text)
      }
      text.append(piece)
    }
    if (!isEvents) for await (const piece of pieces) append(piece)
    // Data without a name flows on, as the words of a model do; a named event has a line of its own.
    else {
      for await (const { event, id, data } of parseEvents(pieces)) {
        if (event === undefined || event === 'message') append(data)
        else {
          text = undefined
          const name = h('span', { class: 'dim' }, [event, id].filter(Boolean).join(' '))
          this.#answer.append(h('p', { class: 'event' }, name, ' ', data))
        }
      }
    }
    if (this.#answer.lastElementChild?.classList.contains('facts')) append('')
  }

  async #fail(response: Response, tell: (bytes: number) => void): Promise<void> {
    const error = await errorOf(response)
    tell(Number(response.headers.get('content-length') ?? 0))
    if (response.status < 500) this.#field.mark(locationsOf(error))
    const { code, reason, path, offset } = error
    const facts = Object.entries({ code, reason, path, offset }).filter(([, value]) => value !== undefined)
    this.#answer.append(
      h('p', { class: 'failure', role: 'alert' }, error.message),
      h('dl', {}, ...facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, String(value))])),
    )
  }
}

async function* piecesOf(response: Response, tell: (bytes: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  let bytes = 0
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    const piece = decoder.decode(value, { stream: !done })
    bytes += value?.length ?? 0
    tell(bytes)
    if (piece !== '') yield piece
    if (done) return
  }
}

function locationsOf(error: ServingError): ErrorLocation[] {
  const { message, offset, path, issues } = error
  if (issues.length > 0) return issues.map((issue) => ({ message: issue.message, path: issue.path, offset: undefined }))
  return [{ message, offset, path }]
}

function headersOf({ type, name }: Content): Record<string, string> {
  const disposition = name && { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}` }
  return { ...(type !== undefined && { 'content-type': type }), ...disposition }
}

function bodyOf({ data, parts }: Content): string | Blob | FormData {
  if (parts === undefined) return data
  const form = new FormData()
  for (const [name, part] of parts) {
    // A Blob, not a text: the line ends of texts become CRLF in forms.
    form.append(name, new Blob([part.data], { type: part.type }), part.name ?? '')
  }
  return form
}

const shownOptions = ['dtype', 'shape', 'orient', 'default_format', 'pilmode']

function titleOf({ id, args }: DescriptorInfo, others: readonly string[] = []): string {
  const options = [...shownOptions, ...others].flatMap((name) => {
    const value = args[name]
    if (value === undefined || value === null || value === 'application/json') return []
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
  return [id.replace('serving.io.', ''), ...options].join(' ')
}
