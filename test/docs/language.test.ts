/** Counts words that plain English does without, by the rules in CONTRIBUTING.md. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { describe, expect, it } from 'vitest'
import { root } from '../cli/process.ts'
import { pages, proseOf } from './markdown.ts'

/** Words of rules 3 and 5: placeholders for things, and idioms that have to be decoded. */
const words = [
  /\bnone\b/gi,
  /\bwhat (?:is|are|has|was|were)\b/gi,
  /\bthat (?:is|are) there\b/gi,
  /\bas (?:it is|they are)\b/gi,
  /\bby (?:itself|themselves)\b/gi,
  /\banew\b/gi,
  /\bin a moment\b/gi,
  /\b(?:go|goes|going|went|gone) on\b/gi,
] as const

/** Returns the places of such words in a text. */
function placesOf(file: string, text: string): string[] {
  return words.flatMap((word) => [...text.matchAll(word)].map(([found]) => `${file}: ${found}`))
}

/** Returns the sentences of a text: a colon ends one as well, and items of lists are of their own. */
function sentencesOf(text: string): string[] {
  const paragraphs = text
    .replace(/^(?:[|#<!]|:::).*$/gm, '\n')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
  return paragraphs.flatMap((paragraph) => paragraph.replace(/\s+/g, ' ').split(/(?<=[.!?:]) /))
}

describe('plain English', () => {
  it('is the language of README.md and docs/', () => {
    const prose = pages
      .filter((page) => !page.startsWith('examples/'))
      .map((page) => ({ page, text: proseOf(page) }))
    expect(prose.length).toBeGreaterThan(50)
    expect(prose.flatMap(({ page, text }) => placesOf(page, text))).toEqual([])
  })

  it('denies only what the framework still lacks: look at a denial when you add a feature', () => {
    const denials = pages
      .filter((page) => !/^docs\/(adr|reference)\//.test(page))
      .flatMap((page) => {
        const text = proseOf(page).replace(/\s+/g, ' ')
        return [...text.matchAll(/[^.|]*\bnot (?:yet )?(?:available|supported)\b/g)].map(
          ([found]) => `${page}:${found}`,
        )
      })
    expect(denials).toEqual([])
  })

  it('has at most 20 words in a sentence, where users read', () => {
    const pagesOfUsers = pages.filter((page) => !/^docs\/(?:adr|internals|reference)\//.test(page))
    const sentences = pagesOfUsers.flatMap((page) =>
      sentencesOf(proseOf(page)).map((sentence) => ({ page, sentence })),
    )
    expect(sentences.length).toBeGreaterThan(1000)
    const isLong = (sentence: string) =>
      sentence.split(' ').filter((word) => /\w/.test(word)).length > 20
    expect(sentences.filter(({ sentence }) => isLong(sentence))).toEqual([])
  })

  it('has short cells in tables, and no semicolons', () => {
    // Generated texts are the code's, and those of examples belong to them.
    const own = pages.filter((page) => !/^(examples|docs\/reference)\/|000-dependencies/.test(page))
    const lines = own.flatMap((page) =>
      proseOf(page)
        .split('\n')
        .map((line) => ({ page, line })),
    )
    const cells = lines
      .filter(({ line }) => line.startsWith('|'))
      .flatMap(({ page, line }) => line.split('|').map((cell) => ({ page, cell: cell.trim() })))
    expect(cells.length).toBeGreaterThan(500)
    expect(cells.filter(({ cell }) => cell.split(/\s+/).length > 10)).toEqual([])
    expect(lines.filter(({ line }) => line.includes(';'))).toEqual([])
  })

  it('is the language of docstrings and comments', () => {
    const files = globSync(['src/**/*.ts', '!src/messages/gen/**'], { cwd: root })
    const comments = files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const found = [...text.matchAll(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm)].map(
        ([comment]) => comment,
      )
      return placesOf(file, found.join('\n').replace(/`[^`\n]*`/g, ''))
    })
    expect(files.length).toBeGreaterThan(300)
    expect(comments).toEqual([])
  })

  it('is the language of messages, in which "received none" may stand', () => {
    const files = globSync(['src/**/*.ts', '!src/messages/gen/**'], { cwd: root })
    const messages = files.flatMap((file) => {
      const lines = readFileSync(join(root, file), 'utf8').split('\n')
      const code = lines.filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line)).join('\n')
      const strings = [...code.matchAll(/'[^'\n]*'|"[^"\n]*"|`[^`\n]*`/g)].map(([text]) => text)
      return placesOf(file, strings.join('\n')).filter((place) => !/none$/i.test(place))
    })
    expect(messages).toEqual([])
  })
})
