/** The page: its list of APIs, and the one that is shown. @module */
import { apisOf } from '../../client/description.ts'
import { apiList, breakable, methodBadge } from './api-list.ts'
import { apiView } from './api-view.ts'
import { callsView } from './calls-view.ts'
import { Credentials } from './credentials.ts'
import { button, type Child, failure, h } from './dom.ts'
import { markdownView } from './markdown.ts'
import type { ServiceDocument } from './operation.ts'
import { entryApisOf, type ListedApi, otherApisOf, type PageData } from './other-apis.ts'

/** @returns an element of index.html. */
const part = (selector: string) => document.querySelector(selector) as HTMLElement

// The page is at `{base}/` and `{base}/docs`, so that it works behind a proxy that adds a prefix, too.
const base = location.origin + location.pathname.replace(/\/(docs\/?)?$/, '')
const credentials = new Credentials()
const calls = part('#calls')
const main = part('#main')
const menu = part('.menu')

function openMenu(isOpen: boolean): void {
  menu.ariaExpanded = String(isOpen)
}

function tryToLoad(): void {
  load().catch((error: Error) => {
    main.replaceChildren(failure(error.message), button('Try again', tryToLoad))
  })
}

async function load(): Promise<void> {
  const url = `${base}/openapi.json`
  const headers = credentials.headers()
  const [response, data] = await Promise.all([fetch(url, { headers }), pageData(headers)])
  if (response.status === 401) return askCredentials()
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`)
  const described = (await response.json()) as ServiceDocument
  const { title = 'serving', description = '', version = '' } = described.info ?? {}
  document.title = title
  part('h1').textContent = title
  part('#version').textContent = version === '0.0.0' ? '' : version
  part('#about').replaceChildren(markdownView(description))
  const listed = [...apisOf(described).values(), ...otherApisOf(described), ...entryApisOf(data)]
  const apis = new Map<string, ListedApi>(listed.map((api) => [api.name, api]))
  const select = apiList([...apis.values()], part('#apis'), () => openMenu(false))
  part('nav').hidden = false
  calls.hidden = !data.hasCalls
  const show = () => {
    // No API has an empty name.
    const isCalls = data.hasCalls && location.hash === calls.getAttribute('href')
    calls.ariaCurrent = isCalls ? 'page' : null
    if (isCalls) showCalls(select)
    else showApi(described, apis, select)
  }
  globalThis.addEventListener('hashchange', show)
  show()
}

/** A proxy may let the document through alone. */
async function pageData(headers: Record<string, string>): Promise<PageData> {
  const response = await fetch(`${base}/docs/page.json`, { headers })
  if (response.ok) return (await response.json()) as PageData
  return { entries: [], hasCalls: false }
}

function showApi(
  described: ServiceDocument,
  apis: ReadonlyMap<string, ListedApi>,
  select: (name: string) => void,
): void {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?')
  const name = decodeURIComponent(path)
  const job = new URLSearchParams(query).get('job') ?? undefined
  const api = apis.get(name) ?? apis.values().next().value
  if (api === undefined) {
    main.replaceChildren(
      h('p', 'The service has no APIs yet: write one with svc.api(…), and reload the page.'),
    )
    return
  }
  select(api.name)
  const root = api.isRoot ? rootOf(described) : base
  const view = apiView(api, { base: root, document: described, credentials, job })
  enter(view, methodBadge(api), ' ', ...breakable(api.path))
  if (name === '') return
  main.querySelector('h2')?.focus({ preventScroll: true })
  if (main.getBoundingClientRect().top < 0) main.scrollIntoView()
}

function showCalls(select: (name: string) => void): void {
  select('')
  enter(callsView(base, credentials), 'Calls')
  main.querySelector('h2')?.focus({ preventScroll: true })
}

/** Shows a view, and tells the one before it by the event `leave`; `title` stands on the menu. */
function enter(view: HTMLElement, ...title: readonly Child[]): void {
  main.firstElementChild?.dispatchEvent(new Event('leave'))
  menu.replaceChildren(h('span', ...title))
  openMenu(false)
  main.replaceChildren(view)
}

function askCredentials(): void {
  const onsubmit = (event: Event) => {
    event.preventDefault()
    tryToLoad()
  }
  const isWrong = Object.keys(credentials.headers()).length > 0
  const text = isWrong
    ? failure('Wrong key or token.')
    : h('p', { role: 'alert' }, 'The service asks for credentials.')
  const open = h('div.tools', h('button.send', 'Open'))
  main.replaceChildren(h('form.card', { onsubmit }, text, credentials.element, open))
  credentials.askAny()
}

/** @returns the URL of the server's root: that of the service without its base URL. */
function rootOf({ servers: [{ url = '/' } = {}] = [] }: ServiceDocument): string {
  if (url !== '/' && base.endsWith(url)) return base.slice(0, -url.length)
  return base
}

document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') openMenu(false)
})
menu.onclick = () => openMenu(menu.ariaExpanded !== 'true')
part('.skip').onclick = (event) => {
  event.preventDefault()
  main.querySelector('h2')?.focus()
}
tryToLoad()
