import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Limits } from '../../src/engine/options.ts'
import { bytes, engines, start } from './harness.ts'

const limits = { maxBodyBytes: 100_000 }

describe.each(engines)('compressed request bodies on %s', (engine) => {
  const echo = async (own: Partial<Limits> = limits) =>
    await start(
      engine,
      (svc) =>
        svc.api(bytes, function echo(body) {
          return body
        }),
      own,
    )
  const request = (encoding: string, body: Buffer) =>
    Buffer.concat([
      Buffer.from(
        `POST /echo HTTP/1.1\r\nhost: x\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`,
      ),
      body,
    ])

  it.each(['gzip', 'GZIP', 'x-gzip'])('are unpacked: %s', async (encoding) => {
    const server = await echo()
    const answer = await server.ask(request(encoding, gzipSync('hello, packed')))
    expect([answer.status, answer.text]).toEqual([200, 'hello, packed'])
  })

  it('are unpacked when they come in pieces', async () => {
    const text = Array.from({ length: 20_000 }, (_, i) => i % 977).join()
    const packed = request('gzip', gzipSync(text))
    const server = await echo()
    const raw = await server.connect()
    const half = packed.length >> 1
    await raw.writeAlone(packed.subarray(0, half))
    raw.write(packed.subarray(half))
    expect((await raw.answer()).text).toBe(text)
    raw.destroy()
  })

  it('that say identity are left as they are', async () => {
    for (const encoding of ['identity', 'Identity, identity']) {
      expect((await (await echo()).ask(request(encoding, Buffer.from('plain')))).text).toBe('plain')
    }
    const packed = gzipSync('packed')
    expect((await (await echo()).ask(request('gzip, identity', packed))).text).toBe('packed')
    expect((await (await echo()).ask(request('gzip, gzip', packed))).status).toBe(415)
  })

  it('that unpack to more than the limit are refused with 413', async () => {
    const answer = await (await echo()).ask(request('gzip', gzipSync(Buffer.alloc(50_000_000))))
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'payload_too_large', reason: 'size' })
  })

  it('that unpack to more than a hundred times what came are refused with 413, from 1 MiB on', async () => {
    const sized = (length: number) => request('gzip', gzipSync(Buffer.alloc(length)))
    const start = (own: Partial<Limits> = {}) => echo({ maxBodyBytes: 10_000_000, ...own })
    const server = await start()
    const answer = await server.ask(sized(3_000_000))
    expect(answer.status).toBe(413)
    const problem = JSON.parse(answer.text)
    expect(problem).toMatchObject({ code: 'payload_too_large', reason: 'size' })
    expect(problem.detail).toMatch(
      /at most 1048576 bytes for the unpacked body.*maxUnpackRatio 100/,
    )
    expect((await server.ask(sized(1_048_576))).status).toBe(200)
    const lax = await start({ maxUnpackRatio: 2000 })
    expect((await lax.ask(sized(3_000_000))).status).toBe(200)
    expect(JSON.parse((await lax.ask(sized(10_000_001))).text).detail).toMatch(
      /at most 10000000 bytes/,
    )
    // An honest body, of which gzip makes a third.
    const text = Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 1000).join()
    expect((await server.ask(request('gzip', gzipSync(text)))).status).toBe(200)
  })

  it('that are damaged are refused with 400', async () => {
    const answer = await (await echo()).ask(
      request('gzip', gzipSync('hello, packed').subarray(0, 20)),
    )
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'bad_input', reason: 'encoding' })
  })

  it('of another encoding are refused with 415', async () => {
    const answer = await (await echo()).ask(request('br', brotliCompressSync('hello')))
    expect(answer.status).toBe(415)
    expect(JSON.parse(answer.text).detail).toContain('gzip')
  })
})
