/** What an element may contain; false and undefined are left out. */
export type Child = Node | string | number | false | undefined

/** Attributes and listeners (`onclick`). False and undefined leave an attribute out; true writes it empty. */
export type Props = Readonly<Record<string, unknown>>

type NameOf<T extends string> = T extends `${infer Name}.${string}` ? Name : T

/** Makes an HTML element with its classes: `h('p.dim', { id: 'about' }, 'text')`. */
export function h<T extends string>(
  tag: T,
  ...content: readonly (Child | Props)[]
): NameOf<T> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[NameOf<T>] : HTMLElement {
  const [name, ...classes] = tag.split('.')
  const element = document.createElement(name)
  if (classes.length > 0) element.className = classes.join(' ')
  return fill(element, content) as never
}

/** Makes an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  ...content: readonly (Child | Props)[]
) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), content)
}

function fill<E extends Element>(element: E, content: readonly (Child | Props)[]): E {
  for (const each of content) {
    if (each === undefined || each === false) continue
    if (each instanceof Node) element.append(each)
    else if (typeof each !== 'object') element.append(String(each))
    else for (const [name, value] of Object.entries(each)) set(element, name, value)
  }
  return element
}

function set(element: Element, name: string, value: unknown): void {
  if (value === undefined || value === false) return
  if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener)
  else if (name === 'value') (element as HTMLInputElement).value = String(value)
  else element.setAttribute(name, value === true ? '' : String(value))
}

/** @returns an id that no other element has. */
export function newId(): string {
  return `e${crypto.getRandomValues(new Uint32Array(2)).join('')}`
}

/** Makes a button that does not send the form. */
export function button(text: string, onclick: () => void): HTMLButtonElement {
  return h('button', { type: 'button', onclick }, text)
}

/** Makes a row of buttons of which one is chosen, at first the first; `choose` is called with its place. */
export function choice(
  label: string,
  names: readonly string[],
  choose: (index: number) => void,
): HTMLElement {
  const select = (chosen: number) => {
    for (const [i, each] of buttons.entries())
      each.setAttribute('aria-pressed', String(i === chosen))
    choose(chosen)
  }
  const buttons = names.map((name, i) => button(name, () => select(i)))
  select(0)
  const attributes = { role: 'group', 'aria-label': label, hidden: names.length === 1 }
  return h('div.choice', attributes, ...buttons)
}

/** Makes a part that opens and closes. */
export function fold(title: string, ...children: readonly Child[]): HTMLDetailsElement {
  return h('details.fold', h('summary', title), ...children)
}

/** Makes a message that is read aloud. */
export function failure(message: string): HTMLElement {
  return h('p.failure', { role: 'alert' }, message)
}

/** Makes a status of HTTP that looks as it went. */
export function statusBadge(status: number, ...more: readonly Child[]): HTMLElement {
  return h('span', { class: status < 400 ? 'status' : 'status failed' }, status, ...more)
}

/** Makes a list of names and values; undefined is left out. */
export function facts(values: Readonly<Record<string, unknown>>): HTMLElement {
  const known = Object.entries(values).filter(([, value]) => value !== undefined)
  return h('dl', ...known.flatMap(([name, value]) => [h('dt', name), h('dd', String(value))]))
}

/** Makes a table in a box that scrolls. `rows`: the first cell of each is its heading. */
export function table(
  label: string,
  headings: readonly Child[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const head = headings.map((heading) =>
    heading === '' ? h('td') : h('th', { scope: 'col' }, heading),
  )
  const body = rows.map(([first, ...cells]) =>
    h('tr', h('th', { scope: 'row' }, first), ...cells.map((cell) => h('td', cell))),
  )
  return h(
    'div.scroll',
    { tabindex: '0', role: 'group', 'aria-label': label },
    h('table', head.length > 0 && h('thead', h('tr', ...head)), h('tbody', ...body)),
  )
}

/**
 * **Units**: bytes.
 *
 * @returns a size in words: `1.2 kB`.
 */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1e6) return `${(bytes / 1000).toPrecision(3)} kB`
  return `${(bytes / 1e6).toPrecision(3)} MB`
}

/** @returns the text of an element of an array or frame: numbers in at most six digits. */
export function cellText(value: unknown): string {
  if (typeof value === 'object') return JSON.stringify(value)
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value)
  return String(Number(value.toPrecision(6)))
}
