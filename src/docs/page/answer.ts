import { decodeContent } from '../../client/decode.ts'
import type { DescriptorInfo } from '../../client/description.ts'
import { type Content, essenceOf, filenameOf, partsOf } from '../../client/multipart.ts'
import type { FrameValue } from '../../client/values.ts'
import { arrayOf, arrayView } from './array-view.ts'
import { h, sizeText } from './dom.ts'
import { frameView } from './frame-view.ts'
import { mediaView } from './image-field.ts'
import { bars } from './plot.ts'

const maxText = 100_000

/** Shows a whole answer, or a part of one, by its descriptor. */
export async function answerView(info: DescriptorInfo, content: Content): Promise<HTMLElement> {
  const essence = essenceOf(content)
  if (essence === 'multipart/form-data' && info.parts !== undefined)
    return formView(info.parts, content)
  if (essence === 'application/json' || essence.endsWith('+json')) return jsonView(info, content)
  const blob = new Blob([await content.blob()], { type: essence })
  if (!essence.startsWith('text/')) return download(content, blob, await mediaView(blob))
  const text = textView(await blob.slice(0, maxText).text())
  if (info.id === 'serving.io.File') return download(content, blob, text)
  return text
}

async function formView(
  infos: NonNullable<DescriptorInfo['parts']>,
  content: Content,
): Promise<HTMLElement> {
  const view = h('div.parts')
  for (const part of await partsOf(content)) {
    const declared = infos.get(part.name)
    const shown = declared && (await answerView(declared, part))
    const file = shown ?? download(part, await part.blob())
    view.append(h('fieldset', h('legend', part.name), file))
  }
  return view
}

async function jsonView(info: DescriptorInfo, content: Content): Promise<HTMLElement> {
  const text = await content.text()
  const again = new Response(text, { headers: content.headers })
  const view = h('div')
  const isJson = info.id === 'serving.io.JSON'
  if (info.id === 'serving.io.PandasDataFrame')
    view.append(frameView((await decodeContent(info, again)) as FrameValue))
  else {
    const isSeries = info.id === 'serving.io.PandasSeries'
    const value: unknown = isSeries ? await decodeContent(info, again) : JSON.parse(text)
    const array = !isJson && arrayOf(value)
    if (array) view.append(arrayView(array))
    for (const [name, scores] of scoresIn(value)) view.append(h('h3', name), scores)
  }
  const isAll = view.childElementCount === 0 || isJson
  view.append(rawView(isAll ? pretty(text) : text, isAll))
  return view
}

function scoresIn(value: unknown): [string, HTMLElement][] {
  if (Object(value) !== value || Array.isArray(value)) return []
  return Object.entries(value as object).flatMap(([name, member]): [string, HTMLElement][] => {
    if (typeof member !== 'object' || member === null) return []
    const numbers: unknown[] = Object.values(member)
    const isFew = numbers.length > 1 && numbers.length <= 40
    if (!isFew || !numbers.every((each) => typeof each === 'number')) return []
    return [[name, bars(numbers, Object.keys(member))]]
  })
}

function rawView(text: string, isOpen: boolean): HTMLElement {
  const raw = h('pre', { tabindex: '0' }, cut(text))
  if (isOpen) return raw
  return h('details.raw', h('summary', 'As it came'), raw)
}

function cut(text: string): string {
  if (text.length > maxText) return `${text.slice(0, maxText)}…`
  return text
}

function pretty(text: string): string {
  // Numbers stay as they came: JSON.parse would round large ones.
  if (text.length > maxText || /(?<![\d.])\d{16,}(?![\d.eE])/.test(text)) return text
  return JSON.stringify(JSON.parse(text), null, 2)
}

/** Shows text. */
export function textView(text: string): HTMLElement {
  return h('pre.text', { tabindex: '0' }, cut(text))
}

function download(content: Content, blob: Blob, view?: Element): HTMLElement {
  const kind = content.headers.get('content-type')?.split(/[/;+]/)[1] || 'bin'
  const name = filenameOf(content) ?? `answer.${kind}`
  // Of no type, so that the browser never opens the bytes in the page's own origin.
  const href = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }))
  return h(
    'div',
    view,
    h('p', h('a', { href, download: name }, `Save ${name}`), ` ${sizeText(blob.size)}`),
  )
}
