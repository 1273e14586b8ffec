/**
 * Writes corpus.txt, the sentences of this repository's documentation, which the model learns from.
 *
 * Run: `npx tsx examples/chat/corpus.ts`
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'

const pages = globSync(['docs/{guide,deploy,protocols}/**/*.md']).sort()
const prose = pages.map((page) =>
  readFileSync(page, 'utf8')
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .replace(/^[#|<:].*$/gm, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, ''),
)
const sentences = prose.flatMap((text) =>
  text.split(/\n{2,}|^- /m).flatMap((paragraph) =>
    paragraph
      .replace(/\s+/g, ' ')
      .trim()
      .split(/(?<=[.!?]) (?=[A-Z])/),
  ),
)
const whole = new Set(
  sentences.filter((sentence) => /^[A-Z].*[.!?]$/.test(sentence) && sentence.length > 20),
)
writeFileSync(new URL('corpus.txt', import.meta.url), `${[...whole].join('\n')}\n`)
