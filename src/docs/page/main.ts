/** The page: a list of the service's APIs, and the one that is chosen. @module */
import { type ApiInfo, apisOf, type OpenApiDocument } from '../../client/description.ts'
import { ApiView } from './api-view.ts'
import { h } from './dom.ts'

// The page is at `{base}/` and `{base}/docs`, so that it works behind a proxy that adds a prefix, too.
const base = location.origin + location.pathname.replace(/\/(docs\/?)?$/, '')
const key = h('input', { type: 'password', autocomplete: 'off', id: 'api-key' })
const token = h('input', { type: 'password', autocomplete: 'off', id: 'token' })
const main = h('main', { id: 'main' })
const nav = h('nav', { 'aria-label': 'APIs' })
let shown: ApiView | undefined

function headers(): Record<string, string> {
  return {
    ...(key.value !== '' && { 'x-api-key': key.value }),
    ...(token.value !== '' && { authorization: `Bearer ${token.value}` }),
  }
}

interface ServiceDocument extends OpenApiDocument {
  readonly info?: { readonly title?: string; readonly description?: string }
}

async function load(): Promise<void> {
  const response = await fetch(`${base}/openapi.json`, { headers: headers() })
  if (response.status === 401) {
    credentials.open = true
    key.focus()
    throw new Error('The service asks for credentials: type a key or a token above.')
  }
  if (!response.ok) throw new Error(`${base}/openapi.json answered ${response.status}.`)
  const document = (await response.json()) as ServiceDocument
  const apis = apisOf(document)
  const { title = 'serving', description } = document.info ?? {}
  globalThis.document.title = title
  heading.textContent = title
  about.textContent = description ?? ''
  const links = new Map([...apis.values()].map((api) => [api.name, linkTo(api)]))
  nav.replaceChildren(h('ul', {}, ...[...links.values()].map((link) => h('li', {}, link))))
  const show = () => {
    const name = decodeURIComponent(location.hash.replace(/^#\/?/, ''))
    const api = apis.get(name) ?? apis.values().next().value
    shown?.leave()
    if (api === undefined) return main.replaceChildren(h('p', {}, 'The service has no APIs.'))
    for (const [other, link] of links) {
      if (other === api.name) {
        link.setAttribute('aria-current', 'page')
        link.scrollIntoView({ block: 'nearest', inline: 'nearest' })
      } else link.removeAttribute('aria-current')
    }
    shown = new ApiView(api, { base, document, headers })
    main.replaceChildren(shown.element)
    if (name === '') return
    main.querySelector('h2')?.focus({ preventScroll: true })
    if (main.getBoundingClientRect().top < 0) main.scrollIntoView()
  }
  globalThis.addEventListener('hashchange', show)
  show()
}

function linkTo({ name, doc }: ApiInfo): HTMLAnchorElement {
  return h('a', { href: `#/${encodeURIComponent(name)}`, title: doc }, name)
}

function start(): void {
  load().catch((error: Error) => {
    const retry = h('button', { type: 'button', onclick: start }, 'Try again')
    main.replaceChildren(h('p', { class: 'failure', role: 'alert' }, error.message), retry)
  })
}

const heading = h('h1', {}, 'serving')
const about = h('p', { class: 'dim' })
const schemes = ['light dark', 'light', 'dark']
const names = ['System', 'Light', 'Dark']
const stored = Number(localStorage.getItem('serving-theme') ?? 0)
const theme = h(
  'select',
  {
    'aria-label': 'colours',
    onchange: () => {
      localStorage.setItem('serving-theme', theme.value)
      document.documentElement.style.colorScheme = schemes[Number(theme.value)]
    },
  },
  ...names.map((name, i) => h('option', { value: i, selected: i === stored }, name)),
)
document.documentElement.style.colorScheme = schemes[stored] ?? schemes[0]

const credentials = h(
  'details',
  {
    class: 'credentials',
    onkeydown: (event: KeyboardEvent) => {
      if (event.key === 'Enter' && shown === undefined) start()
    },
  },
  h('summary', {}, 'Credentials'),
  h('label', { for: 'api-key' }, 'x-api-key'),
  key,
  h('label', { for: 'token' }, 'Bearer token'),
  token,
)
document.body.append(
  h('a', { href: '#main', class: 'skip', onclick: skip }, 'To the API'),
  h('header', {}, h('div', {}, heading, about), h('div', { class: 'tools' }, credentials, theme)),
  h('div', { class: 'columns' }, nav, main),
  h('footer', { class: 'dim' }, h('a', { href: `${base}/openapi.json` }, 'openapi.json')),
)
start()

function skip(event: Event): void {
  event.preventDefault()
  main.querySelector('h2')?.focus()
}
