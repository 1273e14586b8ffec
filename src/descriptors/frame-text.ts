/** Data frames and series as members of JSON values. @module */
import { utf8Text } from '../core/platform.ts'
import { frameCodec } from '../values/table/json/native-codec.ts'
import { requireTable } from '../values/table/message.ts'
import { getLabels } from '../values/table/polars/labels.ts'
import { loadPolars } from '../values/table/polars/polars.ts'

/** Whether the value may be of Polars. Its frames are proxies: the `in` operator does not find their methods. */
export function isPolars(value: unknown): boolean {
  return typeof (value as { readonly rechunk?: unknown } | null)?.rechunk === 'function'
}

/** @returns the text of a data frame or a series; undefined for other values. */
export function frameText(value: unknown): string | undefined {
  // Checked first, so that Polars is not loaded for values such as a Date.
  if (!isPolars(value)) return undefined
  const polars = loadPolars('JSON')
  const isFrame = polars.isDataFrame(value)
  if (!isFrame && !polars.isSeries(value)) return undefined
  const labels = getLabels(value)
  const table = requireTable(polars.toPrintable(isFrame ? value : polars.frameOf(value)), 'JSON')
  const text = frameCodec.encodeFrame(table, {
    layout: isFrame ? 'columns' : 'series-index',
    labels,
  })
  return utf8Text(text)
}
