import { apisOf } from '../../client/description.ts'
import { ApiList, breakable, methodBadge } from './api-list.ts'
import { apiView } from './api-view.ts'
import { callsView } from './calls-view.ts'
import { Credentials } from './credentials.ts'
import { type Child, failure, h } from './dom.ts'
import { markdownView } from './markdown.ts'
import type { ServiceDocument } from './operation.ts'
import { entryApisOf, type ListedApi, otherApisOf, type PageData } from './other-apis.ts'

/** What takes the place of the API that is shown. */
interface View {
  readonly element: HTMLElement
  readonly leave: () => void
}

/** @returns an element of index.html. */
const part = (selector: string) => document.querySelector(selector) as HTMLElement

/** The page: its list of APIs, and the one that is shown. */
export class App {
  // The page is at `{base}/` and `{base}/docs`, so that it works behind a proxy that adds a prefix, too.
  readonly #base = location.origin + location.pathname.replace(/\/(docs\/?)?$/, '')
  readonly #credentials = new Credentials()
  readonly #calls = part('#calls')
  readonly #main = part('#main')
  readonly #menu = part('.menu')
  #leave = () => {}

  /** Loads what the page shows. */
  start(): void {
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.#openMenu(false)
    })
    this.#menu.onclick = () => this.#openMenu(this.#menu.ariaExpanded !== 'true')
    part('.skip').onclick = (event) => {
      event.preventDefault()
      this.#main.querySelector('h2')?.focus()
    }
    this.#tryToLoad()
  }

  #openMenu(isOpen: boolean): void {
    this.#menu.ariaExpanded = String(isOpen)
  }

  #tryToLoad(): void {
    this.#load().catch((error: Error) => {
      const retry = h('button', { type: 'button', onclick: () => this.#tryToLoad() }, 'Try again')
      this.#main.replaceChildren(failure(error.message), retry)
    })
  }

  async #load(): Promise<void> {
    const url = `${this.#base}/openapi.json`
    const headers = this.#credentials.headers()
    const [response, data] = await Promise.all([fetch(url, { headers }), this.#data(headers)])
    if (response.status === 401) return this.#askCredentials()
    if (!response.ok) throw new Error(`${url} answered ${response.status}.`)
    const described = (await response.json()) as ServiceDocument
    const { title = 'serving', description = '', version = '' } = described.info ?? {}
    document.title = title
    part('h1').textContent = title
    part('#version').textContent = version === '0.0.0' ? '' : version
    part('#about').replaceChildren(markdownView(description))
    const listed = [...apisOf(described).values(), ...otherApisOf(described), ...entryApisOf(data)]
    const apis = new Map<string, ListedApi>(listed.map((api) => [api.name, api]))
    const list = new ApiList([...apis.values()], part('#apis'), () => this.#openMenu(false))
    part('nav').hidden = false
    this.#calls.hidden = !data.hasCalls
    const show = () => {
      // No API has an empty name.
      const isCalls = data.hasCalls && location.hash === this.#calls.getAttribute('href')
      this.#calls.ariaCurrent = isCalls ? 'page' : null
      if (isCalls) this.#showCalls(list)
      else this.#show(described, apis, list)
    }
    globalThis.addEventListener('hashchange', show)
    show()
  }

  /** A proxy may let the document through alone. */
  async #data(headers: Record<string, string>): Promise<PageData> {
    const response = await fetch(`${this.#base}/docs/page.json`, { headers })
    if (response.ok) return (await response.json()) as PageData
    return { entries: [], hasCalls: false }
  }

  #show(described: ServiceDocument, apis: ReadonlyMap<string, ListedApi>, list: ApiList): void {
    const [path, query] = location.hash.replace(/^#\/?/, '').split('?')
    const name = decodeURIComponent(path)
    const job = new URLSearchParams(query).get('job') ?? undefined
    const api = apis.get(name) ?? apis.values().next().value
    if (api === undefined) {
      this.#main.replaceChildren(
        h('p', 'The service has no APIs yet: write one with svc.api(…), and reload the page.'),
      )
      return
    }
    list.select(api.name)
    const base = api.isRoot ? rootOf(this.#base, described) : this.#base
    const view = apiView(api, { base, document: described, credentials: this.#credentials, job })
    this.#enter(view, methodBadge(api), ' ', ...breakable(api.path))
    if (name === '') return
    this.#main.querySelector('h2')?.focus({ preventScroll: true })
    if (this.#main.getBoundingClientRect().top < 0) this.#main.scrollIntoView()
  }

  #showCalls(list: ApiList): void {
    list.select('')
    this.#enter(callsView({ base: this.#base, credentials: this.#credentials }), 'Calls')
    this.#main.querySelector('h2')?.focus({ preventScroll: true })
  }

  /** Shows a view; `title` stands on the menu. */
  #enter({ element, leave }: View, ...title: readonly Child[]): void {
    this.#leave()
    this.#leave = leave
    this.#menu.replaceChildren(h('span', ...title))
    this.#openMenu(false)
    this.#main.replaceChildren(element)
  }

  #askCredentials(): void {
    const onsubmit = (event: Event) => {
      event.preventDefault()
      this.#tryToLoad()
    }
    const isWrong = Object.keys(this.#credentials.headers()).length > 0
    const text = isWrong
      ? failure('Wrong key or token.')
      : h('p', { role: 'alert' }, 'The service asks for credentials.')
    const open = h('div.tools', h('button.send', 'Open'))
    this.#main.replaceChildren(h('form.card', { onsubmit }, text, this.#credentials.element, open))
    this.#credentials.askAny()
  }
}

/** @returns the URL of the server's root: that of the service without its base URL. */
function rootOf(base: string, { servers: [{ url = '/' } = {}] = [] }: ServiceDocument): string {
  if (url !== '/' && base.endsWith(url)) return base.slice(0, -url.length)
  return base
}
