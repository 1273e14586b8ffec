/** Input of frames: an editable table, JSON text, or a CSV or Parquet file. @module */
import { frameFromJson, frameToJson } from '../../client/frames.ts'
import type { Cell, FrameValue } from '../../client/values.ts'
import { columnOfTexts, parseCsv } from './csv.ts'
import { choice, h } from './dom.ts'
import type { Content, ErrorLocation, Field } from './field.ts'
import { FileField } from './file-field.ts'
import { columnPlot, frameView } from './frame-view.ts'
import { readParquet } from './parquet.ts'
import { TextEditor } from './text-editor.ts'

const maxTableRows = 200
const maxFileBytes = 20_000_000
const views = ['Table', 'JSON', 'File']

/** A frame. */
export class FrameField implements Field {
  readonly element: HTMLElement
  readonly #orient: string
  readonly #label: string
  readonly #table = h('table', { class: 'edit' })
  readonly #plot = h('div', { class: 'look' })
  readonly #note = h('p', { class: 'note', role: 'alert', hidden: true })
  readonly #json: TextEditor
  readonly #file: FileField
  #names: string[] = []
  #rows: string[][] = []
  #view = 0

  constructor(label: string, orient: string, example: unknown) {
    this.#label = label
    this.#orient = orient
    this.#json = new TextEditor('', { label: `${label} as JSON` })
    this.#file = new FileField({
      label,
      accept: ['text/csv', '.csv', '.parquet', 'application/vnd.apache.parquet'],
      show: (file) => this.#open(file),
    })
    this.#setFrame(example === undefined ? { column: ['', ''] } : frameFromJson(example, orient))
    const button = (text: string, onclick: () => void) => h('button', { type: 'button', onclick }, text)
    const tools = h(
      'div',
      { class: 'tools' },
      button('Add row', () => this.#change(() => this.#rows.push(this.#names.map(() => '')))),
      button('Remove row', () => this.#change(() => this.#rows.pop())),
      button('Add column', () => this.#change(() => this.#names.push(`column${this.#names.length + 1}`))),
      button('Remove column', () => this.#change(() => this.#names.pop())),
    )
    const panels = [
      h('div', {}, tools, h('div', { class: 'scroll' }, this.#table)),
      this.#json.element,
      this.#file.element,
    ]
    const choose = choice(`way to give ${label}`, views, (chosen) => {
      if (chosen === 1 && this.#view === 0) this.#json.text = JSON.stringify(this.#value(), null, 1)
      if (chosen === 0 && this.#view === 1) this.#readJson()
      this.#view = chosen
      for (const [i, panel] of panels.entries()) panel.hidden = i !== chosen
      this.#plot.hidden = chosen === 2
    })
    this.element = h('div', { class: 'tabs' }, choose, ...panels, this.#note, this.#plot)
  }

  read(): Content {
    if (this.#view === 2) {
      const content = this.#file.read()
      return {
        ...content,
        type: isParquet({ name: content.name ?? '' }) ? 'application/vnd.apache.parquet' : 'text/csv',
      }
    }
    const data = this.#view === 1 ? this.#json.text : JSON.stringify(this.#value())
    return { type: 'application/json', data }
  }

  mark(locations: readonly ErrorLocation[]): void {
    if (this.#view === 1) this.#json.mark(locations)
    else if (this.#view === 2) this.#file.mark(locations)
    else this.#markCells(locations)
  }

  #markCells(locations: readonly ErrorLocation[]): void {
    this.#note.hidden = false
    this.#note.textContent = locations.map(({ message }) => message).join('\n')
    for (const { path = '' } of locations) {
      const [, row, column] = /^(?:\[(\d+)\]\.?)?(.*)$/.exec(path) ?? []
      const j = this.#names.indexOf(column ?? '')
      if (row === undefined && j === -1) continue
      for (const input of this.#table.querySelectorAll<HTMLInputElement>('td input')) {
        const isRow = row === undefined || input.dataset.row === row
        if (isRow && (j === -1 || input.dataset.column === String(j))) input.setAttribute('aria-invalid', 'true')
      }
    }
  }

  clear(): void {
    this.#json.clear()
    this.#file.clear()
    this.#note.hidden = true
    for (const input of this.#table.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid')
  }

  #value(): unknown {
    const columns = this.#names.map((_, j) => columnOfTexts(this.#rows.map((row) => row[j] ?? '')))
    const frame: Record<string, Cell[]> = Object.fromEntries(this.#names.map((name, j) => [name, columns[j]]))
    return frameToJson(frame, this.#orient, this.#label)
  }

  #readJson(): void {
    try {
      this.#setFrame(frameFromJson(JSON.parse(this.#json.text), this.#orient))
    } catch {}
  }

  #setFrame(frame: FrameValue): void {
    this.#names = Object.keys(frame)
    const height = Math.max(0, ...Object.values(frame).map((column) => column.length))
    this.#rows = Array.from({ length: Math.min(height, maxTableRows) }, (_, i) =>
      this.#names.map((name) => String(frame[name][i] ?? '')),
    )
    this.#draw()
  }

  async #open(file: File): Promise<Element> {
    const note = (text: string, ...views: Element[]) => h('div', {}, h('p', { class: 'dim' }, text), ...views)
    if (file.size > maxFileBytes) return note('Too large to be shown here; sent as it is.')
    if (isParquet(file)) {
      try {
        const { frame, height } = await readParquet(file)
        return note(`Sent as it is, all of its ${height} rows.`, frameView(frame))
      } catch (error) {
        return note(`It cannot be shown here (${(error as Error).message}); sent as it is.`)
      }
    }
    const [names = [], ...rows] = parseCsv(await file.text())
    const columns = names.map((name, j) => [name, columnOfTexts(rows.map((row) => row[j] ?? ''))] as const)
    const view = frameView(Object.fromEntries(columns))
    if (rows.length > maxTableRows) return note('Sent as it is.', view)
    this.#names = names
    this.#rows = rows
    this.#draw()
    return note('Also in the table.', view)
  }

  #change(change: () => void): void {
    change()
    this.#draw()
  }

  #draw(): void {
    const cell = (row: string[], i: number, j: number) => {
      const input = h('input', {
        value: row[j] ?? '',
        'data-row': i,
        'data-column': j,
        'aria-label': `${this.#names[j]}, row ${i}`,
        oninput: () => {
          row[j] = input.value
          input.removeAttribute('aria-invalid')
          this.#look()
        },
      })
      return h('td', {}, input)
    }
    const headings = this.#names.map((name, j) => {
      const input = h('input', {
        value: name,
        'aria-label': `name of column ${j}`,
        oninput: () => {
          this.#names[j] = input.value
        },
      })
      return h('th', { scope: 'col' }, input)
    })
    this.#table.replaceChildren(
      h('thead', {}, h('tr', {}, h('td', {}), ...headings)),
      h(
        'tbody',
        {},
        ...this.#rows.map((row, i) =>
          h('tr', {}, h('th', { scope: 'row' }, i), ...this.#names.map((_, j) => cell(row, i, j))),
        ),
      ),
    )
    this.#look()
  }

  #look(): void {
    const columns = this.#names.map((name, j) => [name, columnOfTexts(this.#rows.map((row) => row[j] ?? ''))] as const)
    this.#plot.replaceChildren(...columnPlot(new Map(columns), `${this.#label}`))
  }
}

function isParquet({ name }: { readonly name: string }): boolean {
  return /\.parquet$/i.test(name)
}
