/** Finds the curl lines of code blocks, and does what they say. */
import { readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import type { CodeBlock } from './markdown.ts'

/** A curl line of a document with the beginning of the answer that stands below it. */
export interface Example {
  readonly line: string
  readonly answer: string
  /** The page and the line in it. */
  readonly place: string
}

/** Returns the curl lines of a block that have an answer. */
export function examplesOf({ page, line: first, language, code }: CodeBlock): Example[] {
  if (language !== 'sh') return []
  return [...code.matchAll(/^(curl (?:.*\\\n)*.*)\n# (.*)$/gm)].map(
    ({ 1: line, 2: answer, index }) => ({
      line: line.replaceAll('\\\n', ' '),
      answer,
      place: `${page}:${first + code.slice(0, index).split('\n').length - 1}`,
    }),
  )
}

/** Returns the words of a shell line: blanks separate, single quotes hold together. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare)
}

const fileTypes: Record<string, string> = { '.png': 'image/png', '.csv': 'text/csv' }

/** Adds a `-F name=text` or `-F name=@file`, with the types that curl gives to files. */
function addField(form: FormData, field: string, cwd: string): void {
  const [, name, at, value] = /^([^=]+)=(@?)(.*)$/s.exec(field) as unknown as string[]
  if (at === '') form.append(name, value)
  else
    form.append(
      name,
      new Blob([readFileSync(join(cwd, value))], { type: fileTypes[extname(value)] }),
      basename(value),
    )
}

/**
 * Does what curl does in the folder `cwd` with the options that our lines use, so that the tests need Node only. `-o`
 * answers the type.
 */
export async function curl(line: string, port: number, cwd: string): Promise<string> {
  const [, ...words] = wordsOf(line)
  const headers = new Headers()
  let body: string | Uint8Array | FormData | undefined
  let url = ''
  let toFile = false
  const next = () => words.shift() as string
  while (words.length > 0) {
    const word = next()
    if (word === '-H') {
      const [name, value] = next().split(/: */, 2)
      headers.set(name, value)
    } else if (word === '-d') body = next()
    else if (word === '--data-binary') body = readFileSync(join(cwd, next().slice(1)))
    else if (word === '-F') {
      body ??= new FormData()
      addField(body as FormData, next(), cwd)
    } else if (word === '-o') {
      toFile = true
      next()
    } else if (word === '-N') continue
    else if (word.startsWith('-')) throw new Error(`the test does not know curl's ${word}`)
    else url = `http://${word.replace('localhost:3000', `127.0.0.1:${port}`)}`
  }
  const isForm = body instanceof FormData
  if (body !== undefined && !isForm && !headers.has('content-type')) {
    headers.set('content-type', 'application/x-www-form-urlencoded')
  }
  const response = await fetch(
    url,
    body === undefined ? { headers } : { method: 'POST', headers, body },
  )
  return toFile && response.ok
    ? String(response.headers.get('content-type'))
    : await response.text()
}
