import { h, sizeText } from './dom.ts'
import { type Content, type Field, newNote, tell } from './field.ts'

/** Options of {@link fileField}. */
export interface FileFieldOptions {
  readonly label: string
  readonly accept?: readonly string[]
  readonly show: (file: File) => Promise<Element | undefined>
  /** The type of a file, if the browser may not know it. */
  readonly typeOf?: (file: File) => string
}

/** @returns the field of one file. */
export function fileField({ label, accept = [], show, typeOf }: FileFieldOptions): Field {
  const shown = h('div.shown')
  const note = newNote()
  let file: File | undefined
  const take = async (given: File | undefined) => {
    if (given === undefined) return
    file = given
    tell(note, [])
    // The input shows the name of a dropped, pasted or example file, too.
    const list = new DataTransfer()
    list.items.add(given)
    input.files = list.files
    const facts = h('p.dim', [given.type, sizeText(given.size)].filter(Boolean).join(' · '))
    shown.replaceChildren(facts)
    const view = await show(given)
    if (view !== undefined && file === given) shown.replaceChildren(view, facts)
  }
  // Files are dropped on the input itself.
  const input = h('input', {
    type: 'file',
    'aria-label': label,
    accept: accept.join(','),
    onchange: () => take(input.files?.[0]),
  })
  const zone = h(
    'div.drop',
    {
      onpaste: ({ clipboardData }: ClipboardEvent) => take(clipboardData?.files[0]),
      tabindex: '0',
      role: 'group',
      'aria-label': `${label}: drop or paste a file here`,
    },
    input,
    h('span.dim', 'or drop or paste it here'),
    shown,
  )
  return {
    element: h('div', zone, note),
    read: (isDraft): Content => {
      if (file === undefined && !isDraft) throw new Error(`Choose a file for ${label} first.`)
      const [draft = 'application/octet-stream'] = accept.filter((each) => each.includes('/'))
      const sent = file ?? new File([], `file.${draft.replace(/.*[/+-]/, '')}`, { type: draft })
      return {
        type: typeOf?.(sent) || sent.type || 'application/octet-stream',
        data: sent,
        name: sent.name,
      }
    },
    write: ({ type, data, name = 'file' }) => {
      if (typeof data !== 'string') take(new File([data], name, { type }))
      return typeof data !== 'string'
    },
    mark: (locations) => tell(note, locations),
  }
}
