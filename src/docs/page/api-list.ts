import { type Child, h } from './dom.ts'
import { groupOf } from './operation.ts'
import type { ListedApi } from './other-apis.ts'

const minFiltered = 8

/** @returns how an API is called: its method, or that it is a live stream. */
export function methodBadge({ method, methods, isLive }: ListedApi): HTMLElement {
  const other = isLive ? 'LIVE' : method
  const word = methods === undefined ? other : 'ANY'
  return h('span.method', { class: `method ${word.toLowerCase()}` }, word)
}

/** A path or name may break after its marks, and nowhere else. */
export function breakable(name: string): Child[] {
  return name
    .split(/(?<=[/_.-])(?=.)/)
    .flatMap((piece) => [h('wbr'), piece])
    .slice(1)
}

/** Links to APIs in groups, with a filter where they are many. */
export class ApiList {
  readonly element = h('div', { id: 'apis', class: 'apis' })
  readonly #links = new Map<string, HTMLElement>()
  readonly #groups = new Map<string, HTMLElement>()
  readonly #entries: { readonly entry: HTMLElement; readonly text: string }[] = []

  /** `choose` is called when a link is followed. */
  constructor(apis: readonly ListedApi[], choose: () => void) {
    const isLong = apis.length >= minFiltered
    for (const api of apis) this.#add(api, api.group ?? (isLong ? groupOf(api) : ''), choose)
    const sections = [...this.#groups].map(([name, list]) =>
      h('section', name !== '' && h('p.group', { 'aria-hidden': 'true' }, name), list),
    )
    this.element.replaceChildren(...(isLong ? [this.#filter(sections)] : []), ...sections)
  }

  /** Marks the link of an API as the current one. */
  select(name: string): void {
    for (const [other, link] of this.#links) link.ariaCurrent = other === name ? 'page' : null
    this.#links.get(name)?.scrollIntoView({ block: 'nearest' })
  }

  #add(api: ListedApi, group: string, onclick: () => void): void {
    const { name, path, method, isLive, doc = '' } = api
    const href = `#/${encodeURIComponent(name)}`
    const link = h(
      'a',
      { href, onclick, title: name },
      methodBadge(api),
      ' ',
      h('span', ...breakable(path)),
    )
    const entry = h('li', link)
    const list = this.#groups.get(group) ?? h('ul', { 'aria-label': group || undefined })
    list.append(entry)
    this.#groups.set(group, list)
    this.#links.set(name, link)
    const how = isLive ? 'live websocket' : method
    this.#entries.push({ entry, text: `${how} ${path} ${name} ${group} ${doc}`.toLowerCase() })
  }

  #filter(sections: readonly HTMLElement[]): HTMLElement {
    const filter = h('input', {
      type: 'search',
      placeholder: `Filter ${this.#entries.length} APIs`,
      'aria-label': 'filter the APIs by method, path, name or text',
      oninput: () => {
        const wanted = filter.value.trim().toLowerCase()
        for (const { entry, text } of this.#entries) entry.hidden = !text.includes(wanted)
        for (const section of sections)
          section.hidden = section.querySelector('li:not([hidden])') === null
      },
    })
    return filter
  }
}
