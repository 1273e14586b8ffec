/** Reads the documents: pages, code blocks with their lines and services, headings, links. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { root } from '../cli/process.ts'

/** README.md, the READMEs of the examples and all pages of docs/, by their paths from the root. */
export const pages: readonly string[] = globSync(
  ['README.md', 'examples/*/README.md', 'docs/**/*.md'],
  {
    cwd: root,
    ignore: ['docs/node_modules/**', 'docs/.vitepress/**', 'docs/api/**'],
  },
).sort()

/** Returns the text of a page. */
export function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

/** A block of code of a page. */
export interface CodeBlock {
  readonly page: string
  /** The line of its first line of code, from 1. */
  readonly line: number
  readonly language: string
  readonly code: string
  /** The service that it talks to: of the last `<!-- service: FILE -->` above it, else of the front matter. */
  readonly service: string | undefined
}

/** Returns the blocks of code of a page. */
export function codeBlocks(page: string): CodeBlock[] {
  const text = textOf(page)
  let service = /^---\n(?:.*\n)*?service: (.*)\n(?:.*\n)*?---\n/.exec(text)?.[1]
  const blocks: CodeBlock[] = []
  const parts = /<!-- service: (\S+) -->|^ *```(\w+)[^\n]*\n(.*?)^ *```$/gms
  for (const { 1: named, 2: language = '', 3: code = '', index } of text.matchAll(parts)) {
    if (named !== undefined) service = named
    else
      blocks.push({
        page,
        line: text.slice(0, index).split('\n').length + 1,
        language,
        code,
        service,
      })
  }
  return blocks
}

/** Returns the text of a page without its code, in which words count as prose. */
export function proseOf(page: string): string {
  return textOf(page)
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .replace(/`[^`\n]*`/g, '`code`')
    .replace(/\]\([^)]*\)/g, ']')
}

/** Returns the anchors of a page: VitePress's of docs/, GitHub's of other files. */
export function anchorsOf(page: string): Set<string> {
  const text = textOf(page).replace(/^ *```[\s\S]*?^ *```$/gm, '')
  const titles = [...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, title]) => title.toLowerCase())
  const slug = page.startsWith('docs/') ? docsSlug : githubSlug
  return new Set(titles.map(slug))
}

/** As `slugify` of @mdit-vue/shared, which VitePress uses. */
function docsSlug(title: string): string {
  return title
    .replace(/[\s~`!@#$%^&*()\-_+=[\]{}|\\;:"'“”‘’<>,.?/]+/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^-+|-+$/g, '')
}

function githubSlug(title: string): string {
  return title.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-')
}
