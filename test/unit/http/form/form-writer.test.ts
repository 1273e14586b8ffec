import { describe, expect, it } from 'vitest'
import { type WrittenPart, writeForm } from '../../../../src/http/form/form-writer.ts'
import { base64, boundaryOf, parse } from './forms.ts'

describe('a written form', () => {
  const bytes = (text: string) => Buffer.from(text)
  const part = (name: string, text: string, more?: Partial<WrittenPart>): WrittenPart => ({
    name,
    type: 'text/plain',
    length: Buffer.byteLength(text),
    body: bytes(text),
    ...more,
  })

  it("is read back by Node's own FormData", async () => {
    const { contentType, body } = writeForm([
      part('a "quoted"\r\nname', 'é'),
      part('file', '\r\n--\r\n', { filename: 'naïve "文".png', type: 'image/png' }),
    ])
    const form = await new Response(body as Uint8Array<ArrayBuffer>, {
      headers: { 'content-type': contentType },
    }).formData()
    expect(form.get('a "quoted"\r\nname')).toBe('é')
    const file = form.get('file') as File
    expect([file.name, file.type, await file.text()]).toEqual([
      'naïve "文".png',
      'image/png',
      '\r\n--\r\n',
    ])
  })

  it('has a disposition, type and length for each part', () => {
    const { contentType, body } = writeForm([part('a', 'xyz', { filename: 'f' })])
    const boundary = boundaryOf(contentType)
    expect(
      Buffer.from(body as Uint8Array)
        .toString()
        .split('\r\n'),
    ).toEqual([
      `--${boundary}`,
      'content-disposition: form-data; name="a"; filename="f"',
      'content-type: text/plain',
      'content-length: 3',
      '',
      'xyz',
      `--${boundary}--`,
      '',
    ])
    expect(boundaryOf(writeForm([]).contentType)).not.toBe(boundary)
  })

  it('passes a source on and fails when it is not as long as it said', async () => {
    const source = async function* () {
      yield 'ab'
      yield bytes('c')
    }
    const collect = async (length: number) => {
      const { contentType, body } = writeForm([part('a', '', { length, body: source() })])
      const pieces: Uint8Array[] = []
      for await (const piece of body as AsyncIterable<string | Uint8Array>)
        pieces.push(Buffer.from(piece as string))
      return parse(pieces, boundaryOf(contentType))
    }
    expect(await collect(3)).toMatchObject([{ name: 'a', body: base64('abc') }])
    await expect(collect(2)).rejects.toThrow('expected 2 bytes from a source, received more')
    await expect(collect(4)).rejects.toThrow('received 3')
  })
})
