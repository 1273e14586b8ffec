/** Elements, made in one expression. @module */

/** What an element may contain; false and undefined are left out. */
export type Child = Node | string | number | false | undefined | null

/** Attributes and listeners (`onclick`). False and undefined leave an attribute out; true writes it empty. */
export type Props = Readonly<Record<string, unknown>>

/** Makes an HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), props, children)
}

/** Makes an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children)
}

function fill<E extends Element>(element: E, props: Props, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener)
    else if (name === 'value') (element as unknown as HTMLInputElement).value = String(value)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  add(element, children)
  return element
}

/** Appends children to an element. */
export function add(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child !== undefined && child !== null && child !== false) {
      element.append(typeof child === 'number' ? String(child) : child)
    }
  }
}

let ids = 0

/** Returns an id that no other element has. */
export function newId(): string {
  return `e${++ids}`
}

/** Makes a row of buttons of which one is chosen; `choose` is called with its index, at first with 0. */
export function choice(label: string, names: readonly string[], choose: (index: number) => void): HTMLElement {
  const buttons = names.map((name, index) =>
    h('button', { type: 'button', 'aria-pressed': index === 0, onclick: () => select(index) }, name),
  )
  const select = (chosen: number) => {
    for (const [i, button] of buttons.entries()) button.setAttribute('aria-pressed', String(i === chosen))
    choose(chosen)
  }
  select(0)
  return h('div', { class: 'choice', role: 'group', 'aria-label': label }, ...buttons)
}

/** Makes views of which one is shown, with the buttons that choose it. */
export function tabs(label: string, views: readonly (readonly [name: string, view: HTMLElement])[]): HTMLElement {
  const buttons = choice(
    label,
    views.map(([name]) => name),
    (chosen) => {
      for (const [i, [, view]] of views.entries()) view.hidden = i !== chosen
    },
  )
  return h('div', { class: 'tabs' }, buttons, ...views.map(([, view]) => view))
}

/** Returns a size in words: `1.2 kB`. **Units**: bytes. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1000).toPrecision(3)} kB` : `${(bytes / 1e6).toPrecision(3)} MB`
}
