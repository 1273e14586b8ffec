/** The messages that the page of troubleshooting quotes are those of the sources. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { expect, it } from 'vitest'
import { root } from '../cli/process.ts'
import { textOf } from './markdown.ts'

const page = 'docs/guide/troubleshooting.md'

/** A call of `expected` of src/core/errors.ts, as in `expected('a number', 'the option', value)`. */
const expectedCall = /\bexpected\((?:'([^']*)'|\w+), '([^']*)', /g

/** Texts of the sources without comments. Values become an ellipsis, and calls of `expected` their message. */
const sources = globSync(['src/**/*.ts', '!src/messages/gen/**'], { cwd: root }).map((file) =>
  readFileSync(join(root, file), 'utf8')
    .replace(/^\s*(?:\/?\*|\/\/).*$/gm, '')
    .replace(/\$\{[^}]*\}/g, '…')
    .replace(expectedCall, (_, what = '…', name) => `expected ${what} for ${name}, received …`),
)

/** Messages in the first cells of the tables. */
const messages = [...textOf(page).matchAll(/^\| `([^`]+)` \|/gm)].map(([, message]) => message)

it('every message of the troubleshooting page is one of the sources, its pieces in one file', () => {
  expect(messages.length).toBeGreaterThan(50)
  const isSaid = (message: string) => {
    const pieces = message.split('…').map((piece) => piece.trim())
    return sources.some((source) => pieces.every((piece) => source.includes(piece)))
  }
  expect(messages.filter((message) => !isSaid(message))).toEqual([])
})

it('no row of the page lacks its message, or has it twice', () => {
  const rows = [...textOf(page).matchAll(/^\| (?!message)(?!-).*$/gm)]
  expect(rows).toHaveLength(messages.length)
  expect(new Set(messages).size).toBe(messages.length)
})
