import { BinaryFile } from 'serving'
import { describe, expect, it } from 'vitest'
import { File } from '../../src/descriptors/file.ts'
import { Text } from '../../src/descriptors/text.ts'
import { engines, post, start } from './harness.ts'

describe.each(engines)('what a browser could take for a page, on %s,', (engine) => {
  it('says that its type is not to be guessed: texts, files and errors', async () => {
    const server = await start(engine, (svc) => {
      svc.api({ input: new Text(), output: new Text(), name: 'text' }, (text) => text)
      svc.api({ input: new Text(), output: new Text(), name: 'words' }, async function* (text) {
        yield text
      })
      svc.api(
        { input: new File(), output: new File(), name: 'file' },
        (file) => new BinaryFile(file.bytes),
      )
      svc.api(
        { input: new File(), output: new File({ mimeType: 'image/png' }), name: 'bytes' },
        (file) => file.bytes,
      )
    })
    const html = '<script>alert(1)</script>'
    const plain = { 'content-type': 'text/plain' }
    for (const path of ['/text', '/words', '/file', '/bytes', '/nowhere']) {
      const answer = await server.ask(post(path, html, plain))
      expect([path, answer.headers.get('x-content-type-options')]).toEqual([path, ['nosniff']])
    }
    const refused = await server.ask(post('/text', html, { 'content-type': 'image/png' }))
    expect([refused.status, refused.headers.get('x-content-type-options')]).toEqual([
      415,
      ['nosniff'],
    ])
  })
})
