import { frameFromJson, frameToJson } from '../../client/frames.ts'
import type { Cell, FrameValue } from '../../client/values.ts'
import { columnOfTexts, parseCsv } from './csv.ts'
import { button, h, table } from './dom.ts'
import { type Field, isJson, newNote, setInvalid, tell, waysField } from './field.ts'
import { fileField } from './file-field.ts'
import { frameView } from './frame-view.ts'
import { printRows } from './schema.ts'
import { textField } from './text-field.ts'

const maxTableRows = 200
const maxFileBytes = 20_000_000
const parquetType = 'application/vnd.apache.parquet'

/**
 * `frame`: what it starts with.
 *
 * @returns the field of a frame in the layout of `orient`.
 */
export function frameField(label: string, orient: string, frame: FrameValue): Field {
  const cells = cellsField(label, orient)
  cells.show(frame)
  const file = fileField({
    label,
    accept: ['text/csv', '.csv', '.parquet', parquetType],
    show: (chosen) => showFile(chosen, cells),
    typeOf: (file) => (isParquet(file) ? parquetType : 'text/csv'),
  })
  return waysField(label, {
    Table: cells,
    JSON: textField({ label: `${label} as JSON` }),
    File: file,
  })
}

async function showFile(file: File, cells: Cells): Promise<Element> {
  const note = (text: string, view?: Element) => h('div', h('p.dim', text), view)
  if (isParquet(file) || file.size > maxFileBytes) return note('Not shown here; sent unchanged.')
  try {
    const [names = [], ...rows] = parseCsv(await file.text())
    const frame = Object.fromEntries(
      names.map((name, j) => [name, columnOfTexts(rows.map((row) => row[j] ?? ''))]),
    )
    if (rows.length > maxTableRows) return note('Sent unchanged.', frameView(frame))
    cells.show(frame)
    return note('Also in the table.', frameView(frame))
  } catch (error) {
    return note(`It cannot be shown here (${(error as Error).message}); sent unchanged.`)
  }
}

function isParquet({ name, type }: File): boolean {
  return /\.parquet$/i.test(name) || /parquet|octet-stream/.test(type)
}

interface Cells extends Field {
  show(frame: FrameValue): void
}

function cellsField(label: string, orient: string): Cells {
  const box = h('div.edit')
  const note = newNote()
  let names: string[] = []
  let rows: string[][] = []
  const draw = () => {
    const cell = (values: string[], j: number, label: string, place = {}) => {
      const oninput = () => {
        values[j] = input.value
        setInvalid(input, false)
      }
      const input = h('input', { value: values[j] ?? '', 'aria-label': label, oninput, ...place })
      return input
    }
    const headings = names.map((_, j) => cell(names, j, `name of column ${j}`))
    const body = rows.map((row, i) => [
      i,
      ...names.map((name, j) =>
        cell(row, j, `${name}, row ${i}`, { 'data-row': i, 'data-column': j }),
      ),
    ])
    box.replaceChildren(table(label, ['', ...headings], body))
  }
  const changes = {
    'Add row': () => rows.push([]),
    'Remove row': () => rows.pop(),
    'Add column': () => names.push(`column${names.length + 1}`),
    'Remove column': () => names.pop(),
  }
  const buttons = Object.entries(changes).map(([text, change]) =>
    button(text, () => {
      change()
      draw()
    }),
  )
  const show = (frame: FrameValue) => {
    const columns = Object.entries(frame)
    const height = Math.max(0, ...columns.map(([, column]) => column.length))
    names = columns.map(([name]) => name)
    rows = Array.from({ length: Math.min(height, maxTableRows) }, (_, i) =>
      columns.map(([, column]) => String(column[i] ?? '')),
    )
    draw()
  }
  return {
    element: h('div', box, h('div.tools', ...buttons), note),
    show,
    read: () => {
      const column = (j: number): Cell[] => columnOfTexts(rows.map((row) => row[j] ?? ''))
      const frame = Object.fromEntries(names.map((name, j) => [name, column(j)]))
      return { type: 'application/json', data: printRows(frameToJson(frame, orient, label)) }
    },
    write: (content) => {
      const isMine = isJson(content)
      if (isMine) show(frameFromJson(JSON.parse(content.data), orient))
      return isMine
    },
    mark: (locations) => {
      tell(note, locations)
      const wrong = locations.map(({ path = '' }) => {
        const [, row, column = ''] = /^(?:\[(\d+)\]\.?)?(.*)$/.exec(path) ?? []
        const j = names.indexOf(column)
        return { row, column: j === -1 ? undefined : String(j) }
      })
      for (const input of box.querySelectorAll<HTMLInputElement>('td input')) {
        const { row: i, column: j } = input.dataset
        setInvalid(
          input,
          wrong.some(
            ({ row, column }) =>
              (row ?? column) !== undefined && (row ?? i) === i && (column ?? j) === j,
          ),
        )
      }
    },
  }
}
