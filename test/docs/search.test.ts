/**
 * What people type into the search of the site finds the page for it. The index is made as VitePress makes it, with the
 * package that it brings: where docs/node_modules is missing, nothing is asked. `.ci/run docs` installs it.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { markdownOf } from '../../docs/.vitepress/llms.ts'
import { isSearched } from '../../docs/.vitepress/search.ts'
import { root } from '../cli/process.ts'
import { pages, textOf } from './markdown.ts'

/** A part of a page below a heading, as VitePress's `splitPageIntoSections` makes it. */
interface Section {
  readonly id: string
  readonly title: string
  readonly titles: readonly string[]
  readonly text: string
}

interface Index {
  addAll(sections: readonly Section[]): void
  search(words: string, options: object): readonly { readonly id: string }[]
}

type IndexClass = new (options: object) => Index

const MiniSearch = loadMiniSearch()

function loadMiniSearch(): IndexClass | undefined {
  try {
    return createRequire(join(root, 'docs/package.json'))('minisearch') as IndexClass
  } catch {
    return undefined
  }
}

/** The options of VitePress: those of its index, and those of VPLocalSearchBox.vue. */
const indexOptions = { fields: ['title', 'titles', 'text'] }
const searchOptions = { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } }

/** Code has comments that begin like headings of Markdown. */
function withoutHeadings(code: string): string {
  return code.replace(/^#/gm, ' #')
}

/** Returns the sections of a page with the files that it includes, without the marks of Markdown. */
function sectionsOf(page: string): Section[] {
  const text = markdownOf(join(root, 'docs'), page).replace(
    /^ *```[\s\S]*?^ *```$/gm,
    withoutHeadings,
  )
  const titles: string[] = []
  return text
    .split(/^(?=#{1,6} )/m)
    .filter((part) => part.startsWith('#'))
    .map((part, index) => {
      const [, marks, title, rest] = /^(#+) (.*)\n?([\s\S]*)$/.exec(part) ?? []
      titles.length = marks.length - 1
      const above = titles.filter(Boolean)
      titles.push(title)
      const plain = rest.replace(/\]\([^)]*\)|^ *```\w*|[`*|]/gm, ' ')
      return { id: `${page}#${index}`, title, titles: above, text: plain }
    })
}

const searched = pages.flatMap((page) => /^docs\/(.*)$/.exec(page)?.[1] ?? []).filter(isSearched)

/** What people type, and the pages that answer it: one of them is among the first five sections found. */
const answers: Readonly<Record<string, readonly string[]>> = {
  alpine: ['deploy/engine'],
  'api key': ['guide/auth'],
  auth: ['guide/auth'],
  autoscaling: ['deploy/kubernetes'],
  'background task': ['guide/jobs', 'guide/how-it-works'],
  backup: ['deploy/jobs-backup'],
  batch: ['guide/batching', 'guide/how-it-works'],
  bentoml: ['migrate/from-bentoml', 'guide/comparison'],
  'body limit': ['deploy/production', 'guide/troubleshooting'],
  celery: ['migrate/from-fastapi', 'guide/jobs'],
  cors: ['guide/auth'],
  csv: ['guide/descriptors/frame'],
  cuda: ['guide/onnx'],
  docker: ['deploy/containers'],
  express: ['guide/frameworks', 'guide/mount'],
  faq: ['guide/troubleshooting'],
  fastapi: ['migrate/from-fastapi', 'guide/comparison'],
  fastify: ['guide/frameworks', 'guide/mount'],
  'file upload': ['guide/descriptors/file', 'guide/descriptors/form'],
  gpu: ['guide/onnx'],
  grpc: ['protocols/grpc-connect'],
  'health check': ['deploy/production'],
  'hot reload': ['deploy/production', 'reference/cli'],
  'hugging face': ['recipes/hugging-face'],
  huggingface: ['recipes/hugging-face', 'guide/python'],
  image: ['guide/descriptors/image', 'recipes/picture-onnx'],
  jwt: ['guide/auth'],
  kubernetes: ['deploy/kubernetes'],
  llama: ['recipes/llama'],
  llm: ['guide/openai', 'recipes/llama'],
  logging: ['deploy/logs'],
  memory: ['deploy/production', 'guide/troubleshooting'],
  metrics: ['deploy/metrics', 'reference/metrics'],
  middleware: ['guide/hooks'],
  multipart: ['guide/descriptors/form'],
  numpy: ['guide/descriptors/array', 'guide/python'],
  onnx: ['guide/onnx'],
  openapi: ['protocols/openapi'],
  opentelemetry: ['deploy/traces'],
  pandas: ['guide/descriptors/frame', 'guide/python'],
  parquet: ['guide/descriptors/frame'],
  prometheus: ['deploy/metrics', 'reference/metrics'],
  python: ['guide/python', 'guide/clients'],
  pytorch: ['recipes/pytorch', 'guide/python', 'guide/onnx'],
  'rate limit': ['guide/auth'],
  'retry-after': ['guide/troubleshooting', 'reference/errors', 'deploy/production'],
  'scikit-learn': ['recipes/pytorch', 'guide/python'],
  shutdown: ['deploy/production'],
  sse: ['guide/streams'],
  streaming: ['guide/streams'],
  swagger: ['protocols/openapi'],
  timeout: ['deploy/production', 'guide/troubleshooting'],
  tracing: ['deploy/traces'],
  triton: ['migrate/from-triton', 'guide/comparison'],
  troubleshooting: ['guide/troubleshooting'],
  transformers: ['recipes/hugging-face'],
  typescript: ['guide/clients'],
  validation: ['guide/descriptors/json', 'guide/descriptors/index'],
  versioning: ['guide/service', 'protocols/open-inference', 'guide/openai'],
  webhook: ['guide/jobs'],
  websocket: ['guide/live'],
  zod: ['guide/descriptors/json'],
}

describe('the search of the site', () => {
  it('leaves out decisions and internals', () => {
    expect(searched.length).toBeGreaterThan(40)
    expect(searched.filter((page) => /adr|internals/.test(page))).toEqual([])
    expect(textOf('docs/.vitepress/config.ts')).toContain('isSearched(env.relativePath)')
  })

  it('is asked for pages that exist', () => {
    const named = Object.values(answers).flat()
    expect(named.filter((page) => !searched.includes(`${page}.md`))).toEqual([])
  })

  it.skipIf(MiniSearch === undefined)('finds what people type', () => {
    const index = new (MiniSearch as IndexClass)(indexOptions)
    index.addAll(searched.flatMap(sectionsOf))
    const words = Object.keys(answers)
    expect(words.length).toBeGreaterThanOrEqual(40)
    const missed = words.flatMap((word) => {
      const first = index
        .search(word, searchOptions)
        .slice(0, 5)
        .map(({ id }) => id.replace(/\.md#.*/, ''))
      return first.some((page) => answers[word].includes(page))
        ? []
        : [`${word}: ${first.join(', ')}`]
    })
    expect(missed).toEqual([])
  })
})
