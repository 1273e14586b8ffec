/** Input of files: chosen, dropped or pasted. @module */
import { h, sizeText } from './dom.ts'
import type { Content, ErrorLocation, Field } from './field.ts'

/** Options of a {@link FileField}. */
export interface FileFieldOptions {
  readonly label: string
  readonly accept: readonly string[]
  readonly show?: (file: File) => Promise<Element> | Element
}

/** One file. */
export class FileField implements Field {
  readonly element: HTMLElement
  readonly #shown = h('div', { class: 'shown' })
  readonly #note = h('p', { class: 'note', role: 'alert', hidden: true })
  readonly #options: FileFieldOptions
  #file: File | undefined

  constructor(options: FileFieldOptions) {
    this.#options = options
    const { label, accept } = options
    const input = h('input', {
      type: 'file',
      'aria-label': label,
      accept: accept.join(','),
      onchange: () => {
        const file = input.files?.[0]
        if (file !== undefined) this.take(file)
      },
    })
    const zone = h(
      'div',
      {
        class: 'drop',
        onpaste: (event: ClipboardEvent) => this.#takeFrom(event, event.clipboardData),
        ondrop: (event: DragEvent) => this.#takeFrom(event, event.dataTransfer),
        ondragover: (event: DragEvent) => {
          event.preventDefault()
          zone.classList.add('over')
        },
        ondragleave: () => zone.classList.remove('over'),
        tabindex: '0',
        role: 'group',
        'aria-label': `${label}: drop or paste a file here`,
      },
      input,
      h('span', { class: 'dim' }, 'or drop or paste it here'),
      this.#shown,
    )
    this.element = h('div', {}, zone, this.#note)
  }

  async take(file: File): Promise<void> {
    this.#file = file
    this.clear()
    const name = h('p', { class: 'dim' }, `${file.name}, ${file.type || 'unknown type'}, ${sizeText(file.size)}`)
    this.#shown.replaceChildren(name)
    const view = await this.#options.show?.(file)
    if (view !== undefined && this.#file === file) this.#shown.replaceChildren(view, name)
  }

  read(): Content {
    const file = this.#file
    if (file === undefined) throw new Error(`Choose a file for ${this.#options.label} first.`)
    return { type: file.type || 'application/octet-stream', data: file, name: file.name }
  }

  mark(locations: readonly ErrorLocation[]): void {
    this.#note.hidden = false
    this.#note.textContent = locations.map(({ message }) => message).join('\n')
  }

  clear(): void {
    this.#note.hidden = true
  }

  #takeFrom(event: Event, from: DataTransfer | null): void {
    const file = from?.files[0]
    if (file === undefined) return
    event.preventDefault()
    ;(event.currentTarget as Element).classList.remove('over')
    this.take(file)
  }
}
