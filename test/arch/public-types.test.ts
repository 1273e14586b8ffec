import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { hiddenTypes } from './public-types.ts'

const root = new URL('../../', import.meta.url)
const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly types?: string }>>
}
const entries = Object.values(exports).flatMap((entry) =>
  typeof entry === 'string' || entry.types === undefined
    ? []
    : [fileURLToPath(new URL(entry.types, root))],
)

describe('the built declarations', () => {
  it('export every type that occurs in a public declaration', () => {
    expect(entries.length).toBeGreaterThan(2)
    expect(Object.fromEntries(hiddenTypes(entries))).toEqual({})
  })

  it.each([
    [
      'http/context',
      'class Context\\S*',
      /abort|onAbort|\bend\b|clientId|bind|denial|returned|reserve|\bset |Headers\(/,
    ],
    ['http/message', 'class HttpRequest', /retain|release|isPooled|borrowed|lend|lasting/],
    ['http/response-context', 'class ResponseContext', /save|drop|Saved/],
    ['http/message', 'interface HttpResponse', /pooled/],
    ['core/file/binary-file', 'class BinaryFile', /TempFile/],
  ])('of %s keep to themselves what a transport does with a %s', (file, declaration, internal) => {
    const text = readFileSync(new URL(`dist/${file}.d.ts`, root), 'utf8').replace(
      /\/\*[\s\S]*?\*\//g,
      '',
    )
    const [body] = new RegExp(`${declaration} [\\s\\S]*?\\n\\}`).exec(text) ?? []
    expect(body).toBeDefined()
    expect(body).not.toMatch(internal)
  })
})
