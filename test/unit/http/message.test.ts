import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BufferPool } from '../../../src/core/memory/buffer-pool.ts'
import {
  HeaderList,
  HttpRequest,
  isAsyncBody,
  isHeaderName,
  isHeaderValue,
} from '../../../src/http/message.ts'

describe('HeaderList', () => {
  const list = new HeaderList(
    ['a', 'b', 'a', 'cookie', 'cookie', 'empty'],
    ['1', '2', '3', 'x=1', 'y=2', ''],
  )

  it('joins the lines of one name', () => {
    expect([list.get('a'), list.get('cookie'), list.get('b')]).toEqual(['1, 3', 'x=1; y=2', '2'])
  })

  it('has nothing for absent and empty headers, nor for names of Object.prototype', () => {
    expect(['none', 'empty', '__proto__', 'constructor'].map((name) => list.get(name))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('iterates over the lines that are there', () => {
    expect([...list].map(([name]) => name)).toEqual(['a', 'b', 'a', 'cookie', 'cookie'])
  })

  it('is made of a record with names of any case', () => {
    expect(HeaderList.from({ 'Content-Type': 'x' }).get('content-type')).toBe('x')
  })
})

describe('HttpRequest', () => {
  const headers = HeaderList.from({})

  it('hands out its bytes without a copy when they are its own', () => {
    const bytes = new Uint8Array([1, 2])
    const request = new HttpRequest(headers, bytes)
    expect(request.peek()).toBe(bytes)
    expect(request.body).toBe(bytes)
    request.release()
    expect(request.body).toBe(bytes)
  })

  it('copies borrowed bytes once when they are to be kept', () => {
    const bytes = new Uint8Array([1, 2])
    const request = HttpRequest.lend(headers, bytes, true)
    expect(request.peek()).toBe(bytes)
    const { body } = request
    expect(body).not.toBe(bytes)
    expect(request.body).toBe(body)
    bytes.fill(9)
    request.release()
    expect([...request.body]).toEqual([1, 2])
  })

  it('keeps nothing but its own view of a larger buffer', () => {
    const slab = new Uint8Array(1000)
    const request = HttpRequest.lend(headers, slab.subarray(10, 12), true)
    expect(request.body.buffer.byteLength).toBe(2)
  })

  it('gives the buffer of a pool back when its loan ends, and not before', () => {
    const pool = new BufferPool()
    const buffer = pool.take(1e6)
    const request = HttpRequest.lend(headers, new Uint8Array(buffer, 0, 900_000), pool)
    request.retain()
    expect(request.peek().buffer).toBe(buffer)
    expect(pool.takeUsed(1e6)).toBeUndefined()
    request.release()
    request.release()
    expect(() => request.peek()).toThrow(/after fromHttpRequest/)
    expect(pool.takeUsed(1e6)).toBe(buffer)
    expect(pool.takeUsed(1e6)).toBeUndefined()
  })

  it('hands over a buffer of a pool that the body fills, and copies out of a longer one', () => {
    const pool = new BufferPool()
    const exact = new Uint8Array(pool.take(1e6)).fill(7)
    const filling = HttpRequest.lend(headers, exact, pool)
    const { body: own } = filling
    // Moved, not copied: the pool's object has lost its memory.
    expect([own.length, own[999_999], exact.length]).toEqual([1e6, 7, 0])
    filling.release()
    expect(filling.body).toBe(own)
    expect(pool.takeUsed(1e6)).toBeUndefined()

    // Unpacked bodies leave a byte free.
    const nearly = HttpRequest.lend(
      headers,
      new Uint8Array(pool.take(1e6)).fill(7).subarray(0, 999_999),
      pool,
    )
    expect([nearly.body.length, nearly.body[999_998], nearly.body.buffer.byteLength]).toEqual([
      999_999, 7, 1e6,
    ])

    const longer = pool.take(1e6)
    const bytes = new Uint8Array(longer, 0, 900_000).fill(7)
    const request = HttpRequest.lend(headers, bytes, pool)
    const { body } = request
    expect(pool.takeUsed(1e6)).toBe(longer)
    bytes.fill(9)
    expect([body.length, body.buffer.byteLength, body.every((byte) => byte === 7)]).toEqual([
      900_000,
      900_000,
      true,
    ])
    expect(request.body).toBe(body)
  })

  it('refuses to be read after its bytes went back to the socket', () => {
    const request = HttpRequest.lend(headers, new Uint8Array(1), true)
    request.release()
    expect(() => request.peek()).toThrow(/after fromHttpRequest/)
  })
})

describe('header checks', () => {
  it('let no value through that could end its line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        if (isHeaderValue(value)) expect(value).not.toMatch(/[\r\n\0]/)
        if (isHeaderName(value)) expect(value).toMatch(/^[!-~]+$/)
      }),
    )
    for (const bad of ['\r', '\n', '\0', '\x7f', '\x1f', 'Ā', '\u2028'])
      expect(isHeaderValue(`a${bad}b`)).toBe(false)
    for (const good of ['', 'a\tb', 'text/plain; charset=utf-8', 'é'])
      expect(isHeaderValue(good)).toBe(true)
  })

  it('know a token', () => {
    for (const bad of ['', 'a b', 'a:', 'a\n', 'ä', '(a)']) expect(isHeaderName(bad)).toBe(false)
    for (const good of ['x', 'X-Y_z', "!#$%&'*+-.^_`|~9"]) expect(isHeaderName(good)).toBe(true)
  })
})

describe('isAsyncBody', () => {
  it('tells streams from what is all there', () => {
    expect([isAsyncBody(''), isAsyncBody(new Uint8Array()), isAsyncBody(['a'])]).toEqual([
      false,
      false,
      false,
    ])
    expect(isAsyncBody((async function* () {})())).toBe(true)
  })
})
