/** One API: its examples, its form and answer, the call in other languages, and its reference. @module */
import type { ApiInfo } from '../../client/description.ts'
import type { Credentials } from './credentials.ts'
import { button, choice, fold, h } from './dom.ts'
import { send, showResponse } from './exchange.ts'
import type { Field } from './field.ts'
import { fieldOf } from './fields.ts'
import { mediaView } from './image-field.ts'
import { markdownView } from './markdown.ts'
import {
  type Example,
  examplesOf,
  kindText,
  operationOf,
  reference,
  type ServiceDocument,
  schemesOf,
} from './operation.ts'
import { languages, onOneLine, snippet } from './snippets.ts'

/** What the page knows of the service. */
export interface Page {
  readonly base: string
  readonly document: ServiceDocument
  readonly credentials: Credentials
}

/** An API on the page. */
export class ApiView {
  readonly element: HTMLElement
  readonly #api: ApiInfo
  readonly #page: Page
  readonly #field: Field
  readonly #answer = h('div', { class: 'answer', 'aria-live': 'polite' })
  readonly #code = h('pre', { tabindex: '0', 'aria-label': 'the call as code' })
  readonly #send = h('button', { type: 'submit', class: 'send' }, 'Send')
  #language: (typeof languages)[number] = 'curl'
  #running: AbortController | undefined
  /** Whether the form is the user's, so that the first example comes too late. */
  #isTouched = false

  constructor(api: ApiInfo, page: Page) {
    this.#api = api
    this.#page = page
    this.#field = fieldOf(api.input, 'the input', page.document)
    const operation = operationOf(api, page.document)
    const examples = examplesOf(operation, page.base)
    page.credentials.ask(schemesOf(operation, page.document))
    this.#answer.append(h('p', { class: 'empty' }, 'The answer appears here.'))
    const card = (kind: string, title: string, ...children: HTMLElement[]) =>
      h('div', { class: 'card-head' }, h('h3', {}, title), h('span', { class: 'dim' }, kind), ...children)
    this.element = h(
      'article',
      {},
      h('h2', { tabindex: '-1' }, api.name),
      h('p', { class: 'route' }, h('span', { class: 'method' }, api.method), ' ', this.#path()),
      markdownView(api.doc ?? ''),
      examples.length > 0 && this.#gallery(examples),
      h(
        'div',
        { class: 'panes' },
        h('section', { class: 'card', 'aria-label': 'input' }, card(kindText(api.input), 'Input'), this.#form()),
        h(
          'section',
          { class: 'card', 'aria-label': 'answer' },
          card(kindText(api.output, true), 'Answer'),
          this.#answer,
        ),
      ),
      this.#codePanel(),
      reference(api, operation, page.document),
    )
    this.#showCode()
    if (examples.length > 0) void this.#use(examples[0], () => this.#isTouched)
  }

  leave(): void {
    this.#running?.abort()
  }

  #path(): HTMLElement {
    return h('code', {}, this.#page.base.replace(location.origin, '') + this.#api.path)
  }

  #form(): HTMLElement {
    const submit = (event: Event) => {
      event.preventDefault()
      this.#submit()
    }
    return h(
      'form',
      {
        onsubmit: submit,
        onkeydown: (event: KeyboardEvent) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event)
        },
        oninput: () => this.#changed(),
        onclick: () => this.#changed(),
      },
      this.#field.element,
      this.#page.credentials.element,
      h('div', { class: 'tools' }, this.#send, h('span', { class: 'dim' }, 'Ctrl + Enter')),
    )
  }

  #gallery(examples: readonly Example[]): HTMLElement {
    const cards = examples.map((example) => {
      const { name, type } = example
      const look = h('span', { class: 'thumb' }, shortOf(example))
      if (/^(image|multipart)\//.test(type)) {
        void this.#load(example).then(async (loaded) => {
          const all = loaded === undefined ? [] : [loaded, ...(loaded.parts ?? []).map(([, part]) => part)]
          const picture = all.find((each) => each.type?.startsWith('image/'))?.data
          const image = picture instanceof Blob && (await mediaView(picture))?.querySelector('img')
          if (image) look.replaceChildren(image)
        })
      }
      return h('button', { type: 'button', onclick: () => this.#use(example) }, look, h('span', {}, name))
    })
    const label = h('p', { class: 'group' }, 'Examples')
    return h('section', { 'aria-label': 'examples' }, label, h('div', { class: 'gallery' }, ...cards))
  }

  /** Returns what an example has; says why if it cannot be loaded. */
  async #load(example: Example) {
    try {
      return await example.load(this.#page.credentials.headers())
    } catch (error) {
      this.#fail(error as Error)
      return undefined
    }
  }

  async #use(example: Example, isLate = () => false): Promise<void> {
    const content = await this.#load(example)
    if (content === undefined || isLate()) return
    const { data } = content
    // A file may be of text.
    if (!this.#field.write(content)) this.#field.write({ ...content, data: new Blob([data]) })
    this.#showCode()
  }

  #codePanel(): HTMLElement {
    const copied = h('span', { class: 'dim', role: 'status' })
    const copy = async () => {
      await navigator.clipboard?.writeText(this.#code.textContent ?? '')
      copied.textContent = 'copied'
    }
    const choose = choice('language', languages, (chosen) => {
      this.#language = languages[chosen]
      this.#showCode()
    })
    const panel = fold(
      'This call in code',
      h('div', { class: 'tools' }, choose, button('Copy', copy), copied),
      this.#code,
    )
    panel.classList.add('code-panel')
    panel.open = true
    return panel
  }

  #changed(): void {
    this.#isTouched = true
    this.#showCode()
  }

  #showCode(): void {
    try {
      this.#code.textContent = snippet(this.#language, this.#api, this.#field.read(true), this.#page.base)
    } catch (error) {
      this.#code.textContent = (error as Error).message
    }
  }

  #fail({ message }: Error): void {
    this.#answer.append(h('p', { class: 'failure', role: 'alert' }, message))
  }

  async #submit(): Promise<void> {
    if (this.#running !== undefined) return this.#running.abort()
    const { base, credentials } = this.#page
    const running = new AbortController()
    this.#running = running
    this.#field.mark([])
    this.#answer.replaceChildren()
    this.#send.textContent = 'Stop'
    const started = performance.now()
    try {
      const response = await send(this.#api, this.#field.read(), base, credentials.headers(), running.signal)
      if (response.status === 401) credentials.askAny()
      this.#field.mark(await showResponse(this.#answer, response, this.#api, started))
    } catch (error) {
      this.#fail(running.signal.aborted ? new Error('Stopped.') : (error as Error))
    } finally {
      this.#running = undefined
      this.#send.textContent = 'Send'
    }
  }
}

function shortOf({ type, content }: Example): string {
  return typeof content?.data === 'string' ? onOneLine(content.data) : type
}
