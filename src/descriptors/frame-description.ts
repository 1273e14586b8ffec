/** The media types of frames, with their schemas and examples, as documents list them. @module */
import type { ColumnTable } from '../values/table/columns.ts'
import {
  arrowTypes,
  type FrameFormat,
  formatTypes,
  frameFormats,
  parquetType,
} from '../values/table/frame-formats.ts'
import { exampleIn, type FormatDescription, type Formats, type JsonSchema } from './description.ts'
import { exampleTable, type FrameForm, frameSchema } from './frame-schema.ts'

/** An example in a document is read by people. */
export const maxExampleColumns = 64

/** @returns two rows of columns with these names and others up to `width`; undefined for too many. */
export function exampleColumns(
  known: readonly string[],
  dtypes: Readonly<Record<string, string>>,
  width = Math.max(known.length, known.length === 0 ? 2 : 1),
): ColumnTable | undefined {
  if (width > maxExampleColumns) return undefined
  const names = Array.from({ length: width }, (_, i) => known[i] ?? `column_${i + 1}`)
  return exampleTable(names, dtypes)
}

/** What a descriptor of frames tells about itself. */
interface FrameDescription extends FrameForm {
  readonly defaultFormat: FrameFormat
  /** A body, if one could be made. */
  readonly json: string | Uint8Array | undefined
  readonly csv: string | undefined
}

/** @returns the formats that a descriptor of frames reads and writes, `defaultFormat` first. */
export function describeFrames(frame: FrameDescription): Formats {
  const { defaultFormat, csv } = frame
  const json = exampleIn(frame.json)
  const formats = (schema: JsonSchema): FormatDescription[] => {
    const byFormat: Record<FrameFormat, FormatDescription[]> = {
      json: [{ mimeType: formatTypes.json, schema, ...json }],
      csv: [
        { mimeType: formatTypes.csv, schema: { type: 'string' }, ...(csv && { example: csv }) },
      ],
      parquet: [{ mimeType: formatTypes.parquet }, { mimeType: parquetType }],
    }
    const others = frameFormats.filter((format) => format !== defaultFormat)
    return [
      ...[defaultFormat, ...others].flatMap((format) => byFormat[format]),
      { mimeType: arrowTypes.file },
      { mimeType: arrowTypes.stream },
    ]
  }
  return {
    input: formats(frameSchema(frame)),
    output: formats(frameSchema({ ...frame, refusesNulls: false, required: [] })),
    reasons: ['syntax', 'encoding', 'ragged', 'dtype', 'columns', 'schema', 'shape', 'size'],
  }
}
