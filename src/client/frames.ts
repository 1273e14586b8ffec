import { badArgument } from './serving-error.ts'
import { type Cell, type FrameInput, type FrameValue, labels, type SeriesValue } from './values.ts'

type Label = string | number
type Row = Readonly<Record<string, Cell>>

/**
 * @returns the JSON value of a frame in the layout of `orient`.
 * @throws ServingError `bad_input`.
 */
export function frameToJson(
  value: Exclude<FrameInput, Blob>,
  orient: string,
  api: string,
): unknown {
  const { names, columns, rows, labels: own } = tableOf(value, api)
  const at = (i: number) => own?.[i] ?? i
  const each = <T>(make: (i: number) => T) => Array.from({ length: rows }, (_, i) => make(i))
  const row = (i: number): Row => Object.fromEntries(names.map((name, j) => [name, columns[j][i]]))
  switch (orient) {
    case 'split':
      return {
        columns: names,
        index: each(at),
        data: each((i) => columns.map((column) => column[i])),
      }
    case 'index':
      return Object.fromEntries(each((i) => [String(at(i)), row(i)]))
    case 'table': {
      const key = names.includes('index') ? 'level_0' : 'index'
      const fields = [
        { name: key, type: own === undefined ? 'integer' : typeOf(own) },
        ...names.map((name, j) => ({ name, type: typeOf(columns[j]) })),
      ]
      return {
        schema: { fields, primaryKey: [key] },
        data: each((i) => ({ [key]: at(i), ...row(i) })),
      }
    }
    case 'columns':
      if (own !== undefined) {
        return Object.fromEntries(
          names.map((name, j) => [
            name,
            Object.fromEntries(each((i) => [String(at(i)), columns[j][i]])),
          ]),
        )
      }
  }
  return each(row)
}

/** @returns the frame of a JSON value in the layout of `orient`. */
export function frameFromJson(json: unknown, orient: string): FrameValue {
  const frame: Record<string, Cell[]> & { [labels]?: Label[] } = Object.create(null)
  switch (orient) {
    case 'split': {
      const { columns, index, data } = json as { columns: string[]; index: Label[]; data: Cell[][] }
      for (const [j, name] of columns.entries()) frame[name] = data.map((row) => row[j])
      return withLabels(frame, index)
    }
    case 'table': {
      const { schema, data } = json as {
        schema: { fields: { name: string }[]; primaryKey?: string[] }
        data: Row[]
      }
      const key = schema.primaryKey?.[0]
      for (const { name } of schema.fields) if (name !== key) frame[name] = columnOf(data, name)
      return key === undefined ? frame : withLabels(frame, columnOf(data, key) as Label[])
    }
    case 'columns': {
      const columns = Object.entries(json as Record<string, Record<string, Cell>>)
      for (const [name, column] of columns) frame[name] = Object.values(column)
      return withLabels(frame, Object.keys(columns.at(-1)?.[1] ?? {}).map(numeric))
    }
  }
  // Rows are objects, or lists, whose columns are called by their places; those of `index` have labels.
  for (const row of Object.values(json as Record<string, Row | Cell[]>)) {
    for (const [name, value] of Object.entries(row)) {
      frame[name] ??= []
      frame[name].push(value)
    }
  }
  return orient === 'index' ? withLabels(frame, Object.keys(json as object).map(numeric)) : frame
}

/** @returns the JSON value of a series in the layout of `orient`. */
export function seriesToJson(
  value: ArrayLike<Cell> & { [labels]?: readonly Label[] },
  orient: string,
): unknown {
  const values = Array.from(value)
  const own = value[labels]
  const index = values.map((_, i) => own?.[i] ?? i)
  if (orient === 'split') return { name: null, index, data: values }
  if (orient === 'table') return frameToJson({ values, [labels]: own }, orient, '')
  return own === undefined
    ? values
    : Object.fromEntries(values.map((element, i) => [String(index[i]), element]))
}

/** @returns the series of a JSON value in any layout. */
export function seriesFromJson(json: unknown): SeriesValue {
  if (Array.isArray(json)) return json
  const { index, data, schema } = json as {
    index?: Label[]
    data?: unknown[]
    schema?: { fields?: unknown }
  }
  if (Array.isArray(index) && Array.isArray(data)) return withLabels(data as SeriesValue, index)
  const isTable = Array.isArray(schema?.fields) && Array.isArray(data)
  const frame = isTable ? frameFromJson(json, 'table') : frameFromJson({ values: json }, 'columns')
  return withLabels(Object.values(frame)[0] as SeriesValue, frame[labels] ?? [])
}

function tableOf(value: Exclude<FrameInput, Blob>, api: string) {
  if (Array.isArray(value)) {
    const rows = value as readonly Row[]
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
    const columns = names.map((name) => rows.map((row) => row[name] ?? null))
    return { names, columns, rows: rows.length, labels: undefined }
  }
  const frame = value as {
    readonly [column: string]: ArrayLike<Cell>
    readonly [labels]?: readonly Label[]
  }
  const names = Object.keys(frame)
  const rows = names.length === 0 ? 0 : frame[names[0]].length
  const odd = names.find((name) => frame[name]?.length !== rows)
  if (odd !== undefined)
    throw badArgument(`columns of equal length, received another one for ${odd},`, api)
  return { names, columns: names.map((name) => frame[name]), rows, labels: frame[labels] }
}

function columnOf(rows: readonly Row[], name: string): Cell[] {
  return rows.map((row) => row[name])
}

function withLabels<T extends { [labels]?: readonly Label[] }>(
  value: T,
  index: readonly Label[],
): T {
  if (index.some((label, i) => label !== i)) value[labels] = index
  return value
}

function typeOf(column: ArrayLike<unknown>): string {
  const kinds = new Set(
    Array.from(column, (cell) => (Number.isInteger(cell) ? 'integer' : typeof cell)),
  )
  kinds.delete('object')
  if (kinds.has('string')) return 'string'
  if (kinds.has('number')) return 'number'
  return kinds.has('boolean') ? 'boolean' : 'integer'
}

function numeric(label: string): Label {
  return /^(0|-?[1-9]\d{0,14})$/.test(label) ? Number(label) : label
}
