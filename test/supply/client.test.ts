/**
 * What a browser loads of the client.
 */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { bundleClient, bundlerNames, packedProject } from './packed.ts'

const project = packedProject()

it.each(bundlerNames)('%s makes a script of the packed client, with nothing of Node in it', async (bundler) => {
  const { text, warnings } = await bundleClient(project, bundler)
  expect(warnings).toEqual([])
  expect(text.match(/\bnode:\w*|\brequire\(|^import\b.*|sourceMappingURL/gm)).toBe(null)
})

it('the client has the size that the documentation tells', async () => {
  const { text } = await bundleClient(project, 'esbuild')
  const kilobytes = Math.round(gzipSync(text).length / 1000)
  const told = (file: string, sentence: RegExp) =>
    Number(sentence.exec(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))?.[1])
  expect(told('README.md', /(\d+) KB for browsers and Node/)).toBe(kilobytes)
  expect(told('docs/guide/clients.md', /has (\d+) KB \(gzip\)/)).toBe(kilobytes)
})
