import type { DescriptorInfo, PartInfo } from './description.ts'
import { parseJson } from './exact-json.ts'
import { frameFromJson, seriesFromJson } from './frames.ts'
import { jsonLines } from './lines.ts'
import { type Content, essenceOf, filenameOf, partsOf } from './multipart.ts'
import { decodeNpy } from './npy.ts'

/** Media types that clients ask for: arrays with their dtype, everything else as JSON where there is a choice. */
export const acceptedTypes = 'application/x-npy, application/json;q=0.9, */*;q=0.1'

/**
 * Decodes a whole response.
 *
 * @throws whatever reading the body throws.
 */
export async function decodeContent(info: DescriptorInfo, content: Content): Promise<unknown> {
  const essence = essenceOf(content)
  if (info.parts !== undefined && essence === 'multipart/form-data')
    return decodeForm(info.parts, content)
  switch (info.id) {
    case 'serving.io.NumpyNdarray':
      if (essence === 'application/x-npy') return decodeNpy(await content.arrayBuffer())
      break
    case 'serving.io.PandasDataFrame':
      if (essence !== 'application/json') break
      return frameFromJson(parseJson(await content.text()), String(info.args.orient))
    case 'serving.io.PandasSeries':
      return seriesFromJson(parseJson(await content.text()))
    case 'serving.io.Text':
      return content.text()
    case 'serving.io.File':
    case 'serving.io.Image':
      return decodeFile(content)
  }
  if (essence === jsonLines) return (await content.text()).split('\n').slice(0, -1).map(parseJson)
  if (essence === 'application/json' || essence.endsWith('+json'))
    return parseJson(await content.text())
  return essence.startsWith('text/') ? content.text() : decodeFile(content)
}

async function decodeForm(
  infos: ReadonlyMap<string, PartInfo>,
  content: Content,
): Promise<Record<string, unknown>> {
  const value: Record<string, unknown> = Object.create(null)
  for (const [name, { occurrence }] of infos) if (occurrence === 'many') value[name] = []
  for (const { name, ...part } of await partsOf(content)) {
    const known = infos.get(name)
    if (known === undefined) continue
    const decoded = await decodeContent(known, part)
    if (known.occurrence === 'many') (value[name] as unknown[]).push(decoded)
    else value[name] = decoded
  }
  return value
}

async function decodeFile(content: Content): Promise<Blob> {
  const blob = await content.blob()
  const type = content.headers.get('content-type') ?? ''
  const name = filenameOf(content)
  return name === undefined ? new Blob([blob], { type }) : new File([blob], name, { type })
}
