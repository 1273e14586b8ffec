import { type Child, h } from './dom.ts'
import { groupOf } from './operation.ts'
import type { ListedApi } from './other-apis.ts'

const minFiltered = 8

/** @returns how an API is called: its method, or that it is a live stream. */
export function methodBadge({ method, methods, isLive }: ListedApi): HTMLElement {
  const other = isLive ? 'LIVE' : method
  const word = methods === undefined ? other : 'ANY'
  return h('span', { class: `method ${word.toLowerCase()}` }, word)
}

/** A path or name may break after its marks, and nowhere else. */
export function breakable(name: string): Child[] {
  return name
    .split(/(?<=[/_.-])(?=.)/)
    .flatMap((piece) => [h('wbr'), piece])
    .slice(1)
}

/**
 * Puts links to APIs into a box: in groups, with a filter where they are many. `choose` is called when
 * a link is followed.
 *
 * @returns what marks the link of an API as the current one.
 */
export function apiList(apis: readonly ListedApi[], box: HTMLElement, choose: () => void) {
  const links = new Map<string, HTMLElement>()
  const isLong = apis.length >= minFiltered
  const groups = new Map<string, HTMLElement>()
  const entries = apis.map((api) => {
    const { name, path, method, isLive, doc = '', group = isLong ? groupOf(api) : '' } = api
    const link = linkTo(api, choose)
    const entry = h('li', link)
    const list = groups.get(group) ?? h('ul', { 'aria-label': group || undefined })
    list.append(entry)
    groups.set(group, list)
    links.set(name, link)
    const how = isLive ? 'live websocket' : method
    return { entry, text: `${how} ${path} ${name} ${group} ${doc}`.toLowerCase() }
  })
  const sections = [...groups].map(([name, list]) =>
    h('section', name !== '' && h('p.group', { 'aria-hidden': 'true' }, name), list),
  )
  const filter = h('input', {
    type: 'search',
    placeholder: `Filter ${apis.length} APIs`,
    'aria-label': 'filter the APIs by method, path, name or text',
    oninput: () => {
      const wanted = filter.value.trim().toLowerCase()
      for (const { entry, text } of entries) entry.hidden = !text.includes(wanted)
      for (const section of sections)
        section.hidden = section.querySelector('li:not([hidden])') === null
    },
  })
  box.replaceChildren(...(isLong ? [filter] : []), ...sections)
  return (name: string) => {
    for (const [other, link] of links) link.ariaCurrent = other === name ? 'page' : null
    links.get(name)?.scrollIntoView({ block: 'nearest' })
  }
}

function linkTo(api: ListedApi, onclick: () => void): HTMLElement {
  const { name, path } = api
  const target = { href: `#/${encodeURIComponent(name)}`, onclick, title: name }
  return h('a', target, methodBadge(api), ' ', h('span', ...breakable(path)))
}
