/**
 * The site for language models: each page as Markdown beside its HTML, a list of them in `llms.txt`
 * (https://llmstxt.org), and all guides in `llms-full.txt`. `test/docs/site.test.ts` looks at them.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isSearched } from './search.ts'

/** A group of the menu. */
export interface MenuGroup {
  readonly text: string
  readonly items: readonly { readonly text: string; readonly link: string }[]
}

/** Where the pages are, and where the site goes. */
export interface Site {
  readonly srcDir: string
  readonly outDir: string
  /** Paths of Markdown files from `srcDir`. */
  readonly pages: readonly string[]
}

/** Returns a page as plain Markdown: with the programs that it includes, without what is for VitePress alone. */
export function markdownOf(srcDir: string, page: string): string {
  return readFileSync(join(srcDir, page), 'utf8')
    .replace(/^---\n[\s\S]*?\n---\n\s*/, '')
    .replace(/^<!--.*-->\n+/gm, '')
    .replace(/^:::.*\n+/gm, '')
    .replace(/^<<< ([^\s{[]+).*$/gm, (_, path: string) => {
      const file = path.startsWith('@/')
        ? join(srcDir, path.slice(2))
        : join(srcDir, dirname(page), path)
      const [language] = /[^.]*$/.exec(file) ?? []
      return `\`\`\`${language}\n${readFileSync(file, 'utf8').trimEnd()}\n\`\`\``
    })
}

/** Returns the first sentence of a page. */
function summaryOf(markdown: string): string {
  const first = markdown.split(/\n{2,}/).find((part) => /^(?!```|\d+\. )[\w`*[]/.test(part)) ?? ''
  const [sentence] = /^.*?[.:](?=\s|$)/s.exec(first) ?? [first]
  return sentence
    .replace(/\s+/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/:$/, '.')
}

/** Writes the files beside the HTML. */
export function writeMarkdown(
  { srcDir, outDir, pages }: Site,
  about: string,
  menu: readonly MenuGroup[],
): void {
  const texts = new Map(pages.map((page) => [page, markdownOf(srcDir, page)]))
  for (const [page, text] of texts) {
    mkdirSync(dirname(join(outDir, page)), { recursive: true })
    writeFileSync(join(outDir, page), text)
  }
  const groups = menu.map(({ text, items }) => ({
    text,
    entries: items.map((item) => ({
      ...item,
      page: `${item.link.slice(1).replace(/(^|\/)$/, '$1index')}.md`,
    })),
  }))
  const lines = groups.flatMap(({ text, entries }) => [
    `\n## ${text}\n`,
    ...entries.map(
      (entry) => `- [${entry.text}](/${entry.page}): ${summaryOf(texts.get(entry.page) ?? '')}`,
    ),
  ])
  writeFileSync(join(outDir, 'llms.txt'), `# serving\n\n> ${about}\n${lines.join('\n')}\n`)
  const guides = [
    'index.md',
    ...groups.flatMap(({ entries }) => entries.map(({ page }) => page)).filter(isSearched),
  ]
  const parts = guides.map((page) => `<!-- /${page} -->\n\n${texts.get(page)?.trim()}\n`)
  writeFileSync(join(outDir, 'llms-full.txt'), parts.join('\n\n'))
}
