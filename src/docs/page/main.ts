import { type ApiInfo, apisOf } from '../../client/description.ts'
import { apiView } from './api-view.ts'
import { Credentials } from './credentials.ts'
import { h } from './dom.ts'
import { markdownView } from './markdown.ts'
import { groupOf, type ServiceDocument } from './operation.ts'

// The page is at `{base}/` and `{base}/docs`, so that it works behind a proxy that adds a prefix, too.
const base = location.origin + location.pathname.replace(/\/(docs\/?)?$/, '')
const credentials = new Credentials()
const heading = h('h1', 'serving')
const version = h('span.dim')
const about = h('div')
const main = h('main', { id: 'main' })
const list = h('div', { id: 'apis', class: 'apis' })
const menu = h('button', {
  type: 'button',
  class: 'menu',
  'aria-controls': 'apis',
  onclick: () => openMenu(menu.ariaExpanded !== 'true'),
})
const nav = h('nav', { 'aria-label': 'APIs', hidden: true }, menu, list)
let shown: ReturnType<typeof apiView> | undefined

function openMenu(isOpen: boolean): void {
  menu.setAttribute('aria-expanded', String(isOpen))
}

async function load(): Promise<void> {
  const response = await fetch(`${base}/openapi.json`, { headers: credentials.headers() })
  if (response.status === 401) return askCredentials()
  if (!response.ok) throw new Error(`${base}/openapi.json answered ${response.status}.`)
  const document = (await response.json()) as ServiceDocument
  const apis = apisOf(document)
  const { title = 'serving', description = '', version: number = '' } = document.info ?? {}
  globalThis.document.title = title
  heading.textContent = title
  version.textContent = number === '0.0.0' ? '' : number
  about.replaceChildren(markdownView(description))
  const links = listApis([...apis.values()])
  const show = () => {
    const name = decodeURIComponent(location.hash.replace(/^#\/?/, ''))
    const api = apis.get(name) ?? apis.values().next().value
    shown?.leave()
    if (api === undefined) return main.replaceChildren(othersView(document))
    for (const [other, link] of links) link.ariaCurrent = other === api.name ? 'page' : null
    links.get(api.name)?.scrollIntoView({ block: 'nearest' })
    menu.replaceChildren(...breakable(api.name))
    openMenu(false)
    shown = apiView(api, { base, document, credentials })
    main.replaceChildren(shown.element)
    if (name === '') return
    main.querySelector('h2')?.focus({ preventScroll: true })
    if (main.getBoundingClientRect().top < 0) main.scrollIntoView()
  }
  globalThis.addEventListener('hashchange', show)
  show()
}

/** Shows the paths of a service without APIs: those of its protocols, and of mounted handlers with a document. */
function othersView({ paths = {} }: ServiceDocument): HTMLElement {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => ({ method: method.toUpperCase(), path })),
  )
  const first = all.find(({ method, path }) => method === 'GET' && !path.includes('{'))
  if (all.length === 0) return h('p', 'The service has no APIs. Paths of mounted handlers are not on this page.')
  return h(
    'div.card',
    h('p', 'The service has no APIs of its own. It answers:'),
    h('ul', ...all.map(({ method, path }) => h('li', h('code', `${method} ${path}`)))),
    first && h('pre', `curl ${base}${first.path}`),
  )
}

/** A long name may break after its marks, and nowhere else. */
function breakable(name: string): (Node | string)[] {
  return name.split(/(?<=[_.-])/).flatMap((piece, i) => (i === 0 ? [piece] : [h('wbr'), piece]))
}

const maxUngrouped = 7

/** Lists APIs, and returns their links by name. */
function listApis(apis: readonly ApiInfo[]): ReadonlyMap<string, HTMLElement> {
  const links = new Map<string, HTMLElement>()
  const isLong = apis.length > maxUngrouped
  const groups = new Map<string, HTMLElement>()
  const entries = apis.map((api) => {
    const group = isLong ? groupOf(api) : ''
    if (!groups.has(group)) groups.set(group, h('ul', { 'aria-label': group || undefined }))
    const { name } = api
    const href = `#/${encodeURIComponent(name)}`
    const link = h('a', { href, onclick: () => openMenu(false) }, ...breakable(name))
    const entry = h('li', link)
    links.set(name, link)
    groups.get(group)?.append(entry)
    return { entry, text: `${name} ${group} ${api.doc ?? ''}`.toLowerCase() }
  })
  const sections = [...groups].map(([name, ul]) =>
    h('section', name !== '' && h('p.group', { 'aria-hidden': 'true' }, name), ul),
  )
  const filter = h('input', {
    type: 'search',
    placeholder: `Filter ${apis.length} APIs`,
    'aria-label': 'filter the APIs',
    oninput: () => {
      for (const { entry, text } of entries) entry.hidden = !text.includes(filter.value.trim().toLowerCase())
      for (const section of sections) section.hidden = section.querySelector('li:not([hidden])') === null
    },
  })
  list.replaceChildren(...(isLong ? [filter] : []), ...sections)
  nav.hidden = false
  return links
}

function askCredentials(): void {
  const submit = (event: Event) => {
    event.preventDefault()
    start()
  }
  const isWrong = Object.keys(credentials.headers()).length > 0
  const text = isWrong
    ? h('p.failure', { role: 'alert' }, 'Wrong key or token.')
    : h('p', { role: 'alert' }, 'The service asks for credentials.')
  main.replaceChildren(
    h('form.card', { onsubmit: submit }, text, credentials.element, h('div.tools', h('button.send', 'Open'))),
  )
  credentials.askAny()
}

function start(): void {
  load().catch((error: Error) => {
    const retry = h('button', { type: 'button', onclick: start }, 'Try again')
    main.replaceChildren(h('p.failure', { role: 'alert' }, error.message), retry)
  })
}

document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') openMenu(false)
})
const skip = (event: Event) => {
  event.preventDefault()
  main.querySelector('h2')?.focus()
}
document.body.append(
  h('a', { href: '#main', class: 'skip', onclick: skip }, 'To the API'),
  h('header', h('div.title', heading, version, h('a', { href: `${base}/openapi.json` }, 'openapi.json')), about),
  h('div.columns', nav, main),
)
start()
