import { h } from './dom.ts'

/** An element. */
export interface Tag {
  readonly tag: 'p' | 'h3' | 'ul' | 'ol' | 'li' | 'pre' | 'code' | 'strong' | 'em' | 'a'
  readonly href?: string
  readonly children: readonly (Tag | string)[]
}

/** Shows Markdown: paragraphs, headings, lists, code, emphasis and links. HTML in it is text. */
export function markdownView(text: string): HTMLElement {
  const view = ({ tag, href, children }: Tag): HTMLElement =>
    h(
      tag,
      { href, rel: href && 'noreferrer' },
      ...children.map((each) => (typeof each === 'string' ? each : view(each))),
    )
  return h('div.doc', ...parseMarkdown(text).map(view))
}

const span =
  /`([^`]+)`|\*\*(\S|\S.*?\S)\*\*|\*(\S|\S.*?\S)\*|(?<!\w)_(\S|\S.*?\S)_(?!\w)|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/
const item = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/

/** @returns the elements of a text. */
export function parseMarkdown(text: string): Tag[] {
  const blocks: Tag[] = []
  // Code between fences stays unchanged; blank lines part all else.
  for (const [i, piece] of text.split(/^```.*\n?/m).entries()) {
    if (i % 2 === 1) blocks.push({ tag: 'pre', children: [piece.trimEnd()] })
    else
      for (const block of piece.split(/\n\s*\n/))
        if (block.trim() !== '') blocks.push(...blocksOf(block))
  }
  return blocks
}

function blocksOf(block: string): Tag[] {
  const blocks: { tag: Tag['tag']; lines: string[] }[] = []
  for (const line of block.trim().split('\n')) {
    const [, number, entry] = item.exec(line) ?? []
    const [, heading] = /^#{1,6}\s+(.*)$/.exec(line) ?? []
    const last = blocks.at(-1)
    const list = number === undefined ? 'ul' : 'ol'
    if (heading !== undefined) blocks.push({ tag: 'h3', lines: [heading] })
    else if (entry !== undefined && last?.tag === list) last.lines.push(entry)
    else if (entry !== undefined) blocks.push({ tag: list, lines: [entry] })
    else if (last === undefined || last.tag === 'h3') blocks.push({ tag: 'p', lines: [line] })
    // A line without a mark belongs to what stands above it.
    else last.lines.push(`${last.lines.pop()} ${line.trim()}`)
  }
  return blocks.map(({ tag, lines }) => {
    if (tag !== 'ul' && tag !== 'ol') return { tag, children: spansOf(lines.join(' ')) }
    return { tag, children: lines.map((line) => ({ tag: 'li', children: spansOf(line) })) }
  })
}

function spansOf(text: string): (Tag | string)[] {
  const found = span.exec(text)
  if (found === null) return text === '' ? [] : [text]
  const { 0: whole, index } = found
  const parts = [text.slice(0, index), tagOf(found), ...spansOf(text.slice(index + whole.length))]
  return parts.filter((part) => part !== '')
}

function tagOf([, code, strong, star, underscore, label, href]: RegExpExecArray): Tag {
  if (code !== undefined) return { tag: 'code', children: [code] }
  if (href !== undefined) return { tag: 'a', href, children: spansOf(label) }
  return {
    tag: strong === undefined ? 'em' : 'strong',
    children: spansOf(strong ?? star ?? underscore),
  }
}
