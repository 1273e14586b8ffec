/**
 * JSON.parse that returns the keys which the text has: in Node 24 and 26, V8 may take a key with an escape for another
 * one that an earlier text had (nodejs/node#63785). After a text with a key of one backslash, a line break as a key is
 * read as a backslash, so that one client could change the keys of others. @module
 */
import { isRecord } from '../options.ts'
import { randomHex } from '../platform.ts'

type Revive = (key: string, value: unknown) => unknown

const mistakesKeys = (() => {
  JSON.parse('{"a":0,"\\\\":0}')
  return Object.keys(JSON.parse('{"a":0,"\\n":0}') as object)[1] !== '\n'
})()

/**
 * Parses a text; `revive`: as of JSON.parse, for values that are no objects.
 *
 * @throws SyntaxError.
 */
export function parseText(text: string, revive?: Revive): unknown {
  const keys = mistakesKeys && text.includes('\\') ? escapedKeys(text) : []
  if (keys.length === 0) return JSON.parse(text, revive)
  // Refuses other texts than JSON.
  JSON.parse(text)
  // No key of a client begins with it.
  const mark = randomHex(16)
  const marks = new Map<string, string>()
  const names = new Map<string, string>()
  let marked = ''
  let at = 0
  for (const { start, end } of keys) {
    const name = JSON.parse(text.slice(start, end)) as string
    let literal = JSON.stringify(name)
    if (literal.includes('\\')) {
      const marking = marks.get(name) ?? `${mark}${marks.size}`
      marks.set(name, marking)
      names.set(marking, name)
      literal = `"${marking}"`
    }
    marked += text.slice(at, start) + literal
    at = end
  }
  const nameOf = (key: string) => names.get(key) ?? key
  return JSON.parse(marked + text.slice(at), (key, value) => {
    const isMarked = isRecord(value) && Object.keys(value).some((own) => names.has(own))
    const named = isMarked
      ? Object.fromEntries(Object.entries(value).map(([own, each]) => [nameOf(own), each]))
      : value
    if (revive === undefined) return named
    return revive(nameOf(key), named)
  })
}

function escapedKeys(text: string): { readonly start: number; readonly end: number }[] {
  const found = []
  let end = 0
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', end)) {
    end = at
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
    end++
    let next = end
    while (' \t\n\r'.includes(text[next] ?? '.')) next++
    if (text[next] === ':') found.push({ start: text.lastIndexOf('"', at), end })
  }
  return found
}
