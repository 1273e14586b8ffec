/** The built site, where `npm run docs:build` has built it: `.ci/run docs` does. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../cli/process.ts'
import { pages, textOf } from './markdown.ts'

const site = join(root, 'docs/.vitepress/dist')
const built = (file: string) => readFileSync(join(site, file), 'utf8')
const sources = pages.flatMap((page) => /^docs\/(.*)$/.exec(page)?.[1] ?? [])

describe.skipIf(!existsSync(join(site, 'llms.txt')))('the built site', () => {
  it('has each page as Markdown beside its HTML, with its programs', () => {
    expect(sources.length).toBeGreaterThan(80)
    expect(sources.filter((page) => !existsSync(join(site, page.replace(/md$/, 'html'))))).toEqual(
      [],
    )
    const texts = sources.map((page) => ({ page, text: built(page) }))
    expect(
      texts.filter(({ text }) => /^(?:<<<|:::|---\n|<!--)/m.test(text)).map(({ page }) => page),
    ).toEqual([])
    expect(built('recipes/picture-onnx.md')).toContain(
      textOf('docs/snippets/label/label.ts').trim(),
    )
  })

  it('lists the pages of its menu in llms.txt, each with a sentence', () => {
    const lines = [...built('llms.txt').matchAll(/^- \[(.*?)\]\(\/(.*?)\): (.*)$/gm)]
    expect(built('llms.txt')).toMatch(/^# serving\n\n> .+\n/)
    expect(lines.map(([, , file]) => file).filter((file) => !existsSync(join(site, file)))).toEqual(
      [],
    )
    const listed = lines.map(([, , file]) => file)
    const guides = sources.filter((page) =>
      /^(?:guide|recipes|protocols|deploy|reference|migrate)\//.test(page),
    )
    expect(guides.filter((page) => !listed.includes(page))).toEqual([])
    expect(
      lines.filter(([, , , sentence]) => !/^\S.{10,}[.:]$/.test(sentence)).map(([line]) => line),
    ).toEqual([])
  })

  it('has all guides in llms-full.txt, and neither decisions nor internals', () => {
    const text = built('llms-full.txt')
    for (const page of sources.filter((each) => each.startsWith('guide/')))
      expect(text).toContain(built(page).trim())
    expect(text).not.toMatch(/^<!-- \/(?:adr|internals|api)\//m)
  })

  it('has the API in its own design', () => {
    for (const page of [
      'serving/classes/NDArray',
      'serving/client/functions/createClient',
      'serving/namespaces/io/index',
    ])
      expect(built(`api/${page}.html`)).toContain('class="VPSidebar"')
    expect(built('llms.txt')).toContain('](/api/serving/index.md)')
  })
})
