import { BadInput, BadOutput, InvalidArgument, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { decode, refusal, requestOf } from './requests.ts'

const { Text } = io

async function chunksOf(
  descriptor: io.Text,
  value: Parameters<io.Text['toHttpResponse']>[0],
): Promise<string[]> {
  const chunks: string[] = []
  const { body } = await descriptor.toHttpResponse(value)
  for await (const chunk of body as AsyncIterable<string>) chunks.push(chunk)
  return chunks
}

describe('Text', () => {
  it.each(['foo/bar', 'TEXT/PLAIN', 1])('refuses contentType %j', (contentType) => {
    expect(() => new Text({ contentType: contentType as 'text/plain' })).toThrow(InvalidArgument)
  })

  it('gives the function a string', () => {
    expect(decode(new Text(), 'hello', 'text/plain')).toBe('hello')
  })

  it('reads an empty body as an empty string', () => {
    expect(decode(new Text(), '', 'text/plain')).toBe('')
  })

  it('keeps a byte order mark', () => {
    expect(decode(new Text(), '\ufeffx', 'text/plain')).toBe('\ufeffx')
  })

  it('says where the bytes stop being UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('né'), Uint8Array.of(0xff), Buffer.from('x')])
    expect(refusal(new Text(), bytes, 'text/plain')).toMatchObject({
      reason: 'encoding',
      offset: 3,
      status: 400,
    })
    expect(refusal(new Text(), Uint8Array.of(0x61, 0xc3), 'text/plain')).toMatchObject({
      offset: 1,
    })
  })

  it('refuses more than 4 MiB with 413, unless maxBytes allows it', async () => {
    const text = 'x'.repeat(4 * 1024 * 1024 + 1)
    for (const charset of ['', '; charset=latin1']) {
      const read = async (descriptor: io.Text) => decode(descriptor, text, `text/plain${charset}`)
      await expect(read(new Text())).rejects.toThrow(
        /at most 4194304 bytes for Text \(maxBytes\), received 4194305/,
      )
      await expect(read(new Text())).rejects.toMatchObject({ status: 413 })
      expect(await read(new Text({ maxBytes: text.length }))).toBe(text)
    }
    expect(() => new Text().fromProto(Buffer.from(text))).toThrow(/maxBytes/)
    expect(() => new Text({ maxBytes: 0 })).toThrow(/maxBytes/)
  })

  it('sends a string whole', async () => {
    const response = await new Text().toHttpResponse('hi')
    expect(response.headers).toEqual([
      ['content-type', 'text/plain; charset=utf-8'],
      ['x-content-type-options', 'nosniff'],
    ])
    expect(response.body).toBe('hi')
  })

  it('streams every piece that a generator yields as a chunk of its own', async () => {
    const pieces = (async function* () {
      yield 'yo0'
      yield 'yo1'
    })()
    expect(await chunksOf(new Text(), pieces)).toEqual(['yo0', 'yo1'])
  })

  it('streams the pieces of a list', async () => {
    expect(await chunksOf(new Text(), ['a', 'b'])).toEqual(['a', 'b'])
  })

  const eventType = 'text/event-stream; charset=utf-8'

  it('frames objects and strings as server-sent events where contentType says so', async () => {
    const events = (async function* () {
      yield { data: 'a\nb', event: 'token', id: '1', retry: 5 }
      yield 'plain\ntext'
    })()
    const descriptor = new Text({ contentType: 'text/event-stream' })
    expect(await chunksOf(descriptor, events)).toEqual([
      'event: token\nid: 1\nretry: 5\ndata: a\ndata: b\n\n',
      'data: plain\ndata: text\n\n',
    ])
    const whole = await descriptor.toHttpResponse('hi')
    expect([whole.headers[0], whole.body]).toEqual([['content-type', eventType], 'data: hi\n\n'])
  })

  it('makes events of what follows an object, without contentType', async () => {
    const events = (async function* () {
      yield { data: 'a' }
      yield 'b'
    })()
    expect(await chunksOf(new Text(), events)).toEqual(['data: a\n\n', 'data: b\n\n'])
  })

  it.each([
    ['after a string', {}, ['a', { data: 'b' }], 'contentType'],
    [
      "under contentType 'text/plain'",
      { contentType: 'text/plain' },
      [{ data: 'b' }],
      'contentType',
    ],
  ] as const)('refuses an event %s', async (_, options, pieces, message) => {
    const refused = expect(chunksOf(new Text(options), pieces)).rejects
    await refused.toThrow(BadOutput)
    await expect(chunksOf(new Text(options), pieces)).rejects.toThrow(message)
    await expect(Promise.resolve(new Text(options).toProto(pieces))).rejects.toThrow(BadOutput)
  })

  it('refuses a field of an event that would break out of its line', async () => {
    const events = (async function* () {
      yield { data: 'a', event: 'x\ndata: forged' }
    })()
    await expect(chunksOf(new Text(), events)).rejects.toThrow(BadOutput)
  })

  it.each([[null], [1], [undefined], [{}]])('refuses a result that is no text: %j', (value) => {
    expect(() => new Text().toHttpResponse(value as unknown as string)).toThrow(BadOutput)
  })

  it('refuses a yielded piece that is no text', async () => {
    const pieces = (async function* () {
      yield 1 as unknown as string
    })()
    await expect(chunksOf(new Text(), pieces)).rejects.toThrow(BadOutput)
  })

  it('takes a string or UTF-8 bytes as a sample', () => {
    expect(Text.fromSample('hi').sample).toBe('hi')
    expect(Text.fromSample(Buffer.from('é')).sample).toBe('é')
    expect(() => Text.fromSample(Uint8Array.of(0xff))).toThrow(BadInput)
    expect(() => Text.fromSample(1 as unknown as string)).toThrow(BadInput)
  })
})

describe('a body in Latin-1', () => {
  // Windows-1252 as WHATWG has it, which is what all these labels mean. **Source**: encoding.spec.whatwg.org,
  // index-windows-1252.
  const high = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'
  const all = Uint8Array.from({ length: 256 }, (_, i) => i)
  const ascii = String.fromCharCode(...all.subarray(0, 0x80))
  const latin = String.fromCharCode(...all.subarray(0xa0))

  it.each(['latin1', 'ISO-8859-1', 'windows-1252', 'iso_8859-1', 'l1', 'us-ascii', 'cp1252'])(
    'is read byte by byte as %s',
    (label) => {
      const read = (bytes: Uint8Array) =>
        new io.Text().fromHttpRequest(requestOf(bytes, `text/plain; charset=${label}`))
      expect(read(all)).toBe(ascii + high + latin)
      expect(read(Uint8Array.of(0xff, 0xe9))).toBe('ÿé')
      expect(read(Uint8Array.of(0xef, 0xbb, 0xbf))).toBe('ï»¿')
      expect(read(new Uint8Array(0))).toBe('')
    },
  )

  it('is refused under labels that nobody has registered', () => {
    expect(() =>
      new io.Text().fromHttpRequest(requestOf('x', 'text/plain; charset=latin-1')),
    ).toThrow('charset')
  })
})
