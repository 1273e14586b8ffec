/** Input of frames: an editable table, JSON text, or a CSV or Parquet file. @module */
import { frameFromJson, frameToJson } from '../../client/frames.ts'
import type { Cell, FrameValue } from '../../client/values.ts'
import { columnOfTexts, parseCsv } from './csv.ts'
import { button, h } from './dom.ts'
import { type Content, type ErrorLocation, type Field, newNote, setInvalid, tell, Ways } from './field.ts'
import { FileField } from './file-field.ts'
import { frameView } from './frame-view.ts'
import { readParquet } from './parquet.ts'
import { printRows } from './schema.ts'
import { TextField } from './text-field.ts'

const maxTableRows = 200
const maxFileBytes = 20_000_000
const parquetType = 'application/vnd.apache.parquet'

/** Returns the field of a frame in the layout of `orient`. `frame`: what it starts with. */
export function frameField(label: string, orient: string, frame: FrameValue): Field {
  const cells = new TableField(label, orient)
  cells.frame = frame
  const file = new FileField({
    label,
    accept: ['text/csv', '.csv', '.parquet', parquetType],
    show: (chosen) => showFile(chosen, cells),
  })
  const ownRead = file.read.bind(file)
  // Browsers do not know the types of these files everywhere.
  file.read = (isDraft) => {
    const content = ownRead(isDraft)
    return { ...content, type: isParquet(content.name) ? parquetType : 'text/csv' }
  }
  return new Ways(label, [
    ['Table', cells],
    ['JSON', new TextField({ label: `${label} as JSON` })],
    ['File', file],
  ])
}

async function showFile(file: File, cells: TableField): Promise<Element> {
  const note = (text: string, view?: Element) => h('div', {}, h('p', { class: 'dim' }, text), view)
  if (file.size > maxFileBytes) return note('Too large to be shown here; sent as it is.')
  try {
    if (isParquet(file.name)) {
      const { frame, height } = await readParquet(file)
      return note(`Sent as it is, all of its ${height} rows.`, frameView(frame))
    }
    const [names = [], ...rows] = parseCsv(await file.text())
    const frame = Object.fromEntries(names.map((name, j) => [name, columnOfTexts(rows.map((row) => row[j] ?? ''))]))
    if (rows.length <= maxTableRows) cells.frame = frame
    return note(rows.length > maxTableRows ? 'Sent as it is.' : 'Also in the table.', frameView(frame))
  } catch (error) {
    return note(`It cannot be shown here (${(error as Error).message}); sent as it is.`)
  }
}

function isParquet(name = ''): boolean {
  return /\.parquet$/i.test(name)
}

/** A table to type in. */
class TableField implements Field {
  readonly element: HTMLElement
  readonly #orient: string
  readonly #label: string
  readonly #table = h('table', { class: 'edit' })
  readonly #note = newNote()
  #names: string[] = []
  #rows: string[][] = []

  constructor(label: string, orient: string) {
    this.#label = label
    this.#orient = orient
    const change = (text: string, change: () => void) =>
      button(text, () => {
        change()
        this.#draw()
      })
    const tools = h(
      'div',
      { class: 'tools' },
      change('Add row', () => this.#rows.push(this.#names.map(() => ''))),
      change('Remove row', () => this.#rows.pop()),
      change('Add column', () => this.#names.push(`column${this.#names.length + 1}`)),
      change('Remove column', () => this.#names.pop()),
    )
    this.element = h('div', {}, h('div', { class: 'scroll' }, this.#table), tools, this.#note)
  }

  set frame(frame: FrameValue) {
    this.#names = Object.keys(frame)
    const height = Math.max(0, ...Object.values(frame).map((column) => column.length))
    this.#rows = Array.from({ length: Math.min(height, maxTableRows) }, (_, i) =>
      this.#names.map((name) => String(frame[name][i] ?? '')),
    )
    this.#draw()
  }

  read(): Content {
    const column = (j: number): Cell[] => columnOfTexts(this.#rows.map((row) => row[j] ?? ''))
    const frame = Object.fromEntries(this.#names.map((name, j) => [name, column(j)]))
    return { type: 'application/json', data: printRows(frameToJson(frame, this.#orient, this.#label)) }
  }

  write({ data }: Content): boolean {
    if (typeof data !== 'string') return false
    this.frame = frameFromJson(JSON.parse(data), this.#orient)
    return true
  }

  mark(locations: readonly ErrorLocation[]): void {
    tell(this.#note, locations)
    for (const input of this.#table.querySelectorAll<HTMLInputElement>('td input')) {
      const isWrong = locations.some(({ path = '' }) => {
        const [, row, column = ''] = /^(?:\[(\d+)\]\.?)?(.*)$/.exec(path) ?? []
        const j = this.#names.indexOf(column)
        if (row === undefined && j === -1) return false
        return (row ?? input.dataset.row) === input.dataset.row && (j === -1 || input.dataset.column === String(j))
      })
      setInvalid(input, isWrong)
    }
  }

  #draw(): void {
    const names = this.#names
    const headings = names.map((name, j) => {
      const input = h('input', {
        value: name,
        'aria-label': `name of column ${j}`,
        oninput: () => {
          names[j] = input.value
        },
      })
      return h('th', { scope: 'col' }, input)
    })
    const cell = (row: string[], i: number, j: number) => {
      const input = h('input', {
        value: row[j] ?? '',
        'data-row': i,
        'data-column': j,
        'aria-label': `${names[j]}, row ${i}`,
        oninput: () => {
          row[j] = input.value
          setInvalid(input, false)
        },
      })
      return h('td', {}, input)
    }
    const rows = this.#rows.map((row, i) =>
      h('tr', {}, h('th', { scope: 'row' }, i), ...names.map((_, j) => cell(row, i, j))),
    )
    this.#table.replaceChildren(h('thead', {}, h('tr', {}, h('td'), ...headings)), h('tbody', {}, ...rows))
  }
}
