/** Parts of messages: texts, and pictures, sound and files in base64, which descriptors decode. @module */

import type { Visit } from '../../api/visit.ts'
import { isRecord } from '../../core/options.ts'
import { inPart } from '../../descriptors/form-reader.ts'
import { type Body, check } from './body.ts'
import type { ChatContent, ContentPart } from './method-types.ts'
import type { Accepted, Model } from './model.ts'

interface PartKind {
  readonly needs: Accepted
  /** Decodes the member that is called as the part's type. */
  read(member: Body, model: Model, visit: Visit): object | Promise<object>
}

const kinds: ReadonlyMap<unknown, PartKind> = new Map<unknown, PartKind>([
  [
    'image_url',
    {
      needs: 'images',
      async read({ url, detail }, { image }, visit) {
        const { content, kind } = fromDataUrl(url, 'url', visit)
        const picture = await image?.fromBytes(content, kind || undefined, visit.ctx)
        return { image: picture, ...(detail !== undefined && { detail }) }
      },
    },
  ],
  [
    'input_audio',
    {
      needs: 'audio',
      read({ data, format }, { file }, visit) {
        const isName = typeof format === 'string' && /^[a-z0-9]{1,16}$/.test(format)
        check(isName, 'a format such as wav', 'format', format)
        const content = fromBase64(data, 'data', visit)
        return { audio: file?.fromProto({ kind: `audio/${format}`, content }) }
      },
    },
  ],
  [
    'file',
    {
      needs: 'files',
      read({ file_data: data, filename }, { file }, visit) {
        const name = typeof filename === 'string' ? filename : ''
        return { file: file?.fromProto({ ...fromDataUrl(data, 'file_data', visit), name }) }
      },
    },
  ],
])

/**
 * @returns a text, or parts, or their text if they are texts alone.
 * @throws BadInput; those of the descriptors.
 */
export async function readContent(
  content: unknown,
  path: string,
  model: Model,
  visit: Visit,
): Promise<ChatContent> {
  if (typeof content === 'string') return content
  check(Array.isArray(content), 'a text or a list of parts', path, content)
  const read: ContentPart[] = []
  for (const [i, part] of content.entries())
    read.push(await readPart(part, `${path}[${i}]`, model, visit))
  const texts = read.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === read.length ? texts.join('\n') : read
}

async function readPart(
  part: unknown,
  path: string,
  model: Model,
  visit: Visit,
): Promise<ContentPart> {
  const fields: Body = Object(part)
  const { type, text } = fields
  const kind = kinds.get(type)
  if (kind === undefined || !model.accepts.has(kind.needs)) {
    const why = kind && `, as the model ${model.name} does not accept ${kind.needs},`
    const isText = type === 'text' && typeof text === 'string'
    check(isText, `a part of type text${why ?? ''}`, path, part)
    return { type, text }
  }
  const name = String(type)
  const member = fields[name]
  check(isRecord(member), 'an object', `${path}.${name}`, member)
  try {
    return { type, ...(await kind.read(member, model, visit)) } as ContentPart
  } catch (error) {
    throw inPart(`${path}.${name}`, error)
  }
}

/** Addresses are not fetched: a client could reach what only this machine can. */
function fromDataUrl(url: unknown, path: string, visit: Visit) {
  const text = typeof url === 'string' ? url : ''
  const comma = text.indexOf(',')
  const head = text.slice(0, Math.min(comma, 256))
  const kind = /^data:([^;]*)(?:;[^;]*)*;base64$/.exec(head)?.[1]
  check(kind !== undefined, 'a data: URL in base64', path, url)
  return { kind, content: fromBase64(text.slice(comma + 1), path, visit) }
}

function fromBase64(text: unknown, path: string, visit: Visit): Uint8Array {
  const isBase64 = typeof text === 'string' && !/[^A-Za-z0-9+/=]/.test(text)
  check(isBase64, 'base64', path, text)
  visit.hold(text.length)
  return Buffer.from(text, 'base64')
}
