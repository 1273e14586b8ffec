import { HeaderList, HttpRequest, io, PayloadTooLarge } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { many } from './many.ts'

const headers = HeaderList.from({ 'content-type': 'application/json' })

/** Reads a value as a request would bring it. */
async function read(descriptor: io.IODescriptor<unknown, never>, value: unknown): Promise<unknown> {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return descriptor.fromHttpRequest(new HttpRequest(headers, Buffer.from(text)))
}

describe('a large JSON body', () => {
  it.each([
    ['a fault at its end', `[${'1,'.repeat(200_000)}x]`, 400_001],
    ['no end', `[${'1,'.repeat(200_000)}`, 400_001],
    ['a fault in a nested list', `{"a":[${'[1],'.repeat(100_000)}[2}]}`, 400_008],
  ])('with %s is refused with its place', async (_, text, offset) => {
    await expect(read(new io.JSON(), text)).rejects.toMatchObject({
      status: 400,
      reason: 'syntax',
      offset,
    })
  })

  it.each([
    ['letters', 'a'.repeat(4_000_000)],
    ['escapes', '\\u0041'.repeat(600_000)],
    ['escaped quotes', '\\"'.repeat(2_000_000)],
  ])('of one string of %s is read, and a fault behind it found', async (_, string) => {
    expect(await read(new io.JSON(), `"${string}"`)).toBe(JSON.parse(`"${string}"`))
    const text = `["${string}",x]`
    const offset = text.length - 2
    await expect(read(new io.JSON(), text)).rejects.toMatchObject({ reason: 'syntax', offset })
  })

  it('of more than 4 MiB is refused with 413, unless maxBytes allows it', async () => {
    const text = (length: number) => `"${'x'.repeat(length - 2)}"`
    const limit = 4 * 1024 * 1024
    expect(await read(new io.JSON(), text(limit))).toHaveLength(limit - 2)
    const work = read(new io.JSON(), text(limit + 1))
    await expect(work).rejects.toThrow(
      /at most 4194304 bytes for JSON \(maxBytes\), received some 4194305/,
    )
    await expect(work).rejects.toBeInstanceOf(PayloadTooLarge)
    expect(() => new io.JSON().fromProto(Buffer.from(text(limit + 1)))).toThrow(PayloadTooLarge)
    expect(await read(new io.JSON({ maxBytes: limit + 1 }), text(limit + 1))).toHaveLength(
      limit - 1,
    )
    await expect(read(new io.JSON({ maxBytes: 10 }), text(11))).rejects.toBeInstanceOf(
      PayloadTooLarge,
    )
    expect(() => new io.JSON({ maxBytes: 0 })).toThrow(/maxBytes/)
  })

  it('of more than 250,000 values is refused with 413, 50,000 with a schema', async () => {
    const list = (length: number) => `[${'1,'.repeat(length - 1)}1]`
    expect(await read(new io.JSON(), list(250_000))).toHaveLength(250_000)
    await expect(read(new io.JSON(), list(250_001))).rejects.toThrow(
      /at most 250000 values for JSON \(maxValues\)/,
    )
    const schema = z.array(z.number())
    expect(await read(new io.JSON({ schema }), list(50_000))).toHaveLength(50_000)
    await expect(read(new io.JSON({ schema }), list(50_001))).rejects.toThrow(
      /at most 50000 values/,
    )
    expect(await read(new io.JSON({ schema, maxValues: 100_000 }), list(60_000))).toHaveLength(
      60_000,
    )
  })

  it('of more than maxValues values is refused with 413, whatever its length', async () => {
    const small = new io.JSON({ maxValues: 10 })
    for (const length of [12, 1000, 2_000_000]) {
      const work = read(small, `[${'1,'.repeat(length)}1]`)
      await expect(work, String(length)).rejects.toThrow(/at most 10 values for JSON \(maxValues\)/)
      await expect(work).rejects.toBeInstanceOf(PayloadTooLarge)
    }
    expect(await read(small, '[1,2,3]')).toEqual([1, 2, 3])
    expect(() => new io.JSON({ maxValues: 0 })).toThrow(/maxValues/)
  })

  it('of an object of more than maxKeys keys is refused with 413, as deep as it lies', async () => {
    const object = (keys: number) => `{${many(keys, (i) => `"k${i}":0`)}}`
    for (const wrap of [(text: string) => text, (text: string) => `{"a":[0,{"b":${text}}]}`]) {
      expect(await read(new io.JSON(), wrap(object(50_000)))).toBeDefined()
      const work = read(new io.JSON(), wrap(object(50_001)))
      await expect(work).rejects.toThrow(/at most 50000 keys in an object for JSON \(maxKeys\)/)
      await expect(work).rejects.toBeInstanceOf(PayloadTooLarge)
      const small = new io.JSON({ maxKeys: 4096 })
      await expect(read(small, wrap(object(4097)))).rejects.toBeInstanceOf(PayloadTooLarge)
      const text = wrap(object(4096))
      expect(await read(small, text)).toEqual(JSON.parse(text))
    }
    const objects = `[${many(30, () => object(4000))}]`
    expect(await read(new io.JSON({ maxKeys: 4096 }), objects)).toHaveLength(30)
    expect(
      Object.keys((await read(new io.JSON({ maxKeys: 200_000 }), object(150_000))) as object),
    ).toHaveLength(150_000)
    expect(() => new io.JSON({ maxKeys: 0 })).toThrow(/maxKeys/)
  })
})
