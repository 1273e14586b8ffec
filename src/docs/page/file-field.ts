/** Input of files: chosen, dropped or pasted. @module */
import { h, sizeText } from './dom.ts'
import { type Content, type ErrorLocation, type Field, newNote, tell } from './field.ts'

/** Options of a {@link FileField}. */
export interface FileFieldOptions {
  readonly label: string
  readonly accept?: readonly string[]
  readonly show?: (file: File) => Promise<Element | undefined>
}

/** One file. */
export class FileField implements Field {
  readonly element: HTMLElement
  readonly #shown = h('div', { class: 'shown' })
  readonly #note = newNote()
  readonly #options: FileFieldOptions
  readonly #input: HTMLInputElement
  #file: File | undefined

  constructor(options: FileFieldOptions) {
    this.#options = options
    const { label, accept = [] } = options
    this.#input = h('input', {
      type: 'file',
      'aria-label': label,
      accept: accept.join(','),
      onchange: () => this.#takeFirst(this.#input.files),
    })
    const take = (event: Event, files: FileList | undefined) => {
      zone.classList.remove('over')
      if (this.#takeFirst(files)) event.preventDefault()
    }
    const zone = h(
      'div',
      {
        class: 'drop',
        onpaste: (event: ClipboardEvent) => take(event, event.clipboardData?.files),
        ondrop: (event: DragEvent) => take(event, event.dataTransfer?.files),
        ondragover: (event: DragEvent) => {
          event.preventDefault()
          zone.classList.add('over')
        },
        ondragleave: () => zone.classList.remove('over'),
        tabindex: '0',
        role: 'group',
        'aria-label': `${label}: drop or paste a file here`,
      },
      this.#input,
      h('span', { class: 'dim' }, 'or drop or paste it here'),
      this.#shown,
    )
    this.element = h('div', {}, zone, this.#note)
  }

  async take(file: File): Promise<void> {
    this.#file = file
    this.mark([])
    // The input shows the name of a dropped, pasted or example file, too.
    const list = new DataTransfer()
    list.items.add(file)
    this.#input.files = list.files
    const facts = h('p', { class: 'dim' }, [file.type, sizeText(file.size)].filter(Boolean).join(' · '))
    this.#shown.replaceChildren(facts)
    const view = await this.#options.show?.(file)
    if (view !== undefined && this.#file === file) this.#shown.replaceChildren(view, facts)
  }

  read(isDraft = false): Content {
    const file = this.#file
    if (file !== undefined) return { type: file.type || 'application/octet-stream', data: file, name: file.name }
    const { label, accept: [type = 'application/octet-stream'] = [] } = this.#options
    if (!isDraft) throw new Error(`Choose a file for ${label} first.`)
    return { type, data: new Blob(), name: `file.${type.includes('stream') ? 'bin' : type.replace(/.*\//, '')}` }
  }

  write({ type, data, name = 'file' }: Content): boolean {
    if (typeof data === 'string') return false
    this.take(new File([data], name, { type }))
    return true
  }

  mark(locations: readonly ErrorLocation[]): void {
    tell(this.#note, locations)
  }

  #takeFirst(files: FileList | null | undefined): boolean {
    const [file] = files ?? []
    if (file !== undefined) this.take(file)
    return file !== undefined
  }
}
