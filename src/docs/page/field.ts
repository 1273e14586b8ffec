import { choice, h, newId } from './dom.ts'

/** A body, or a part of a form. */
export interface Content {
  readonly type: string | undefined
  /** Texts are sent unchanged, so that offsets of errors count in them. */
  readonly data: string | Blob
  readonly name?: string
  readonly parts?: readonly (readonly [name: string, content: Content])[]
}

/** An error and where in the input it is. */
export interface ErrorLocation {
  readonly message: string
  readonly offset: number | undefined
  readonly path: string | undefined
}

/** An input for one descriptor. */
export interface Field {
  readonly element: HTMLElement
  /**
   * `isDraft`: a file that is not chosen yet has a name all the same.
   *
   * @returns the content.
   * @throws Error.
   */
  read(isDraft?: boolean): Content
  /** Shows an example, or what another field has; false if this kind of field cannot. */
  write(content: Content): boolean
  /** Marks the locations and shows their messages; without locations, nothing is marked. */
  mark(locations: readonly ErrorLocation[]): void
}

/** Whether a content is JSON text. */
export function isJson(content: Content): content is Content & { readonly data: string } {
  return typeof content.data === 'string' && /json/.test(content.type ?? '')
}

/** Makes the place of messages. */
export function newNote(): HTMLElement {
  return h('span.note', { role: 'alert', hidden: true, id: newId() })
}

/** Shows messages; an empty list hides the note. */
export function tell(note: HTMLElement, locations: readonly ErrorLocation[]): void {
  note.hidden = locations.length === 0
  note.textContent = locations.map(({ message }) => message).join('\n')
}

/** Marks an input as wrong, or no longer so. */
export function setInvalid(input: Element, isWrong: boolean): void {
  input.ariaInvalid = isWrong ? 'true' : null
}

/** Shows each location in the child that its path leads into, others in the note. The name `''` stands for any path. */
export function markChildren(
  locations: readonly ErrorLocation[],
  children: Iterable<readonly [name: string, child: Pick<Field, 'mark'>]>,
  note: HTMLElement,
): void {
  const rest = new Set(locations)
  for (const [name, child] of children) {
    const inChild = locations.filter(({ path = '' }) => {
      return name === '' || (path.startsWith(name) && /^[.[]|^$/.test(path.slice(name.length)))
    })
    for (const location of inChild) rest.delete(location)
    const below = (path = '') => path.slice(name.length).replace(/^\./, '') || undefined
    child.mark(inChild.map((location) => ({ ...location, path: below(location.path) })))
  }
  tell(note, [...rest])
}

/** @returns several ways to give one input. The next chosen one takes over the value as far as it can. */
export function waysField(label: string, ways: Readonly<Record<string, Field>>): Field {
  const fields = Object.values(ways)
  let [chosen] = fields
  const buttons = choice(`way to give ${label}`, Object.keys(ways), (index) => {
    const field = fields[index]
    if (field !== chosen) {
      try {
        field.write(chosen.read())
      } catch {}
    }
    chosen = field
    for (const each of fields) each.element.hidden = each !== field
  })
  return {
    element: h('div.ways', buttons, ...fields.map(({ element }) => element)),
    read: (isDraft) => chosen.read(isDraft),
    write: (content) => {
      const taker = [chosen, ...fields].find((field) => field.write(content))
      if (taker === undefined) return false
      chosen = taker
      buttons.querySelectorAll('button')[fields.indexOf(taker)].click()
      return true
    },
    mark: (locations) => chosen.mark(locations),
  }
}
