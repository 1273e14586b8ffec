import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root, serveFile } from '../cli/process.ts'

/** A curl line of a document with the beginning of the answer that stands below it. */
interface Example {
  readonly line: string
  readonly answer: string
}

function examplesOf(file: string): Example[] {
  const blocks = readFileSync(join(root, file), 'utf8').matchAll(/```sh\n(.*?)```/gs)
  const text = [...blocks].map((block) => block[1].replaceAll('\\\n', ' ')).join('\n')
  return [...text.matchAll(/^(curl .*)\n# (.*)$/gm)].map(([, line, answer]) => ({ line, answer }))
}

/** The words of a shell line: blanks separate, single quotes hold together. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare)
}

/** Does what curl does with the options that our lines use, so that the tests need Node only. */
async function curl(line: string, port: number): Promise<string> {
  const [, ...words] = wordsOf(line)
  const headers = new Headers()
  let body: string | Buffer<ArrayBuffer> | undefined
  let url = ''
  while (words.length > 0) {
    const word = words.shift() as string
    if (word === '-H') {
      const [name, value] = (words.shift() as string).split(/: */, 2)
      headers.set(name, value)
    } else if (word === '-d') body = words.shift()
    else if (word === '--data-binary') body = readFileSync(join(root, (words.shift() as string).slice(1)))
    else if (word === '-N') continue
    else if (word.startsWith('-')) throw new Error(`the test does not know curl's ${word}`)
    else url = `http://${word.replace('localhost:3000', `127.0.0.1:${port}`)}`
  }
  if (body !== undefined && !headers.has('content-type'))
    headers.set('content-type', 'application/x-www-form-urlencoded')
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', headers, body })
  return await response.text()
}

describe.each([
  ['README.md', 'iris', 4],
  ['examples/iris/README.md', 'iris', 4],
  ['examples/digits/README.md', 'digits', 1],
])('the curl lines of %s', (file, service, least) => {
  it('answer what stands below them', async () => {
    const examples = examplesOf(file)
    expect(examples.length).toBeGreaterThanOrEqual(least)
    const { port } = await serveFile(`examples/${service}/service.ts`, ['--workers', '1'])
    for (const { line, answer } of examples) {
      // An ellipsis stands for what the document leaves out.
      const start = answer.split('…')[0]
      expect((await curl(line, port)).slice(0, start.length), line).toBe(start)
    }
  })
})
