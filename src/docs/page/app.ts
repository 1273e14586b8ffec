import { apisOf } from '../../client/description.ts'
import { ApiList, breakable, methodBadge } from './api-list.ts'
import { apiView } from './api-view.ts'
import { callsView } from './calls-view.ts'
import { Credentials } from './credentials.ts'
import { failure, h } from './dom.ts'
import { markdownView } from './markdown.ts'
import type { ServiceDocument } from './operation.ts'
import { entryApisOf, type ListedApi, otherApisOf, type PageData } from './other-apis.ts'

/** No API has an empty name. */
const callsHash = '#/?calls'

/** The page: its list of APIs, and the one that is shown. */
export class App {
  // The page is at `{base}/` and `{base}/docs`, so that it works behind a proxy that adds a prefix, too.
  readonly #base = location.origin + location.pathname.replace(/\/(docs\/?)?$/, '')
  readonly #credentials = new Credentials()
  readonly #heading = h('h1', 'serving')
  readonly #version = h('span.dim')
  readonly #about = h('div')
  readonly #calls = h('a', { href: callsHash, hidden: true }, 'Calls')
  readonly #main = h('main', { id: 'main' })
  readonly #menu = h('button', {
    type: 'button',
    class: 'menu',
    'aria-controls': 'apis',
    onclick: () => this.#openMenu(this.#menu.ariaExpanded !== 'true'),
  })
  readonly #nav = h('nav', { 'aria-label': 'APIs', hidden: true })
  #leave = () => {}

  /** Puts the page into the document and loads what it shows. */
  start(): void {
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.#openMenu(false)
    })
    const skip = (event: Event) => {
      event.preventDefault()
      this.#main.querySelector('h2')?.focus()
    }
    const reference = h('a', { href: `${this.#base}/openapi.json` }, 'openapi.json')
    document.body.append(
      h('a', { href: '#main', class: 'skip', onclick: skip }, 'To the API'),
      h(
        'header',
        h('div.title', this.#heading, this.#version, h('span.links', this.#calls, reference)),
        this.#about,
      ),
      h('div.columns', this.#nav, this.#main),
    )
    this.#tryToLoad()
  }

  #openMenu(isOpen: boolean): void {
    this.#menu.setAttribute('aria-expanded', String(isOpen))
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
    this.#heading.textContent = title
    this.#version.textContent = version === '0.0.0' ? '' : version
    this.#about.replaceChildren(markdownView(description))
    const apis = new Map<string, ListedApi>([...apisOf(described), ...otherApisOf(described)])
    for (const api of entryApisOf(data)) apis.set(api.name, api)
    const list = new ApiList([...apis.values()], () => this.#openMenu(false))
    this.#nav.replaceChildren(this.#menu, list.element)
    this.#nav.hidden = false
    this.#calls.hidden = !data.hasCalls
    const show = () => {
      this.#leave()
      const isCalls = data.hasCalls && location.hash === callsHash
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
    this.#menu.replaceChildren(h('span', methodBadge(api), ' ', ...breakable(api.path)))
    this.#openMenu(false)
    const base = api.isRoot ? rootOf(this.#base, described) : this.#base
    const view = apiView(api, { base, document: described, credentials: this.#credentials, job })
    this.#leave = view.leave
    this.#main.replaceChildren(view.element)
    if (name === '') return
    this.#main.querySelector('h2')?.focus({ preventScroll: true })
    if (this.#main.getBoundingClientRect().top < 0) this.#main.scrollIntoView()
  }

  #showCalls(list: ApiList): void {
    list.select('')
    this.#menu.replaceChildren(h('span', 'Calls'))
    this.#openMenu(false)
    const view = callsView({ base: this.#base, credentials: this.#credentials })
    this.#leave = view.leave
    this.#main.replaceChildren(view.element)
    view.element.querySelector('h2')?.focus({ preventScroll: true })
  }

  #askCredentials(): void {
    const submit = (event: Event) => {
      event.preventDefault()
      this.#tryToLoad()
    }
    const isWrong = Object.keys(this.#credentials.headers()).length > 0
    const text = isWrong
      ? failure('Wrong key or token.')
      : h('p', { role: 'alert' }, 'The service asks for credentials.')
    this.#main.replaceChildren(
      h(
        'form.card',
        { onsubmit: submit },
        text,
        this.#credentials.element,
        h('div.tools', h('button.send', 'Open')),
      ),
    )
    this.#credentials.askAny()
  }
}

/** @returns the URL of the server's root: that of the service without its base URL. */
function rootOf(base: string, { servers: [{ url = '/' } = {}] = [] }: ServiceDocument): string {
  if (url !== '/' && base.endsWith(url)) return base.slice(0, -url.length)
  return base
}
