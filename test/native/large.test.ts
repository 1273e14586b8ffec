import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, vi } from 'vitest'
import { type DType, dataConstructor, dtypes, type NumericDType } from '../../src/core/dtype.ts'
import { bufferPool } from '../../src/core/memory/buffer-pool.ts'
import { nativeLimiter } from '../../src/core/memory/limiter.ts'
import { addon, nativePath } from '../../src/core/native/add-on.ts'
import { numberCodec } from '../../src/values/array/array-text.ts'
import { typescriptCodec } from '../../src/values/array/json.ts'
import { encodeLarge, parseLarge } from '../../src/values/array/large-codec.ts'
import { parsedOf, resultWords } from '../../src/values/array/native-codec.ts'
import { NDArray } from '../../src/values/array/ndarray.ts'
import type { ParseFailure } from '../../src/values/array/number-codec.ts'

const numericTypes = dtypes.filter((dtype): dtype is NumericDType => dtype !== 'str')
const text = (json: string) => Buffer.from(json)

function sampleOf(dtype: NumericDType): NDArray {
  const Container = dataConstructor(dtype)
  const bytes = new Uint8Array(24 * Container.BYTES_PER_ELEMENT)
  for (let i = 0; i < bytes.length; i++) bytes[i] = dtype === 'bool' ? i & 1 : (i * 37) & 0x3f
  return new NDArray(new Container(bytes.buffer), [2, 3, 4], dtype)
}

async function printed(array: NDArray): Promise<string | undefined> {
  const answer = await encodeLarge(array, 'null')
  if (answer === undefined) return undefined
  const json = Buffer.from(answer).toString()
  bufferPool.give(answer.buffer as ArrayBuffer)
  return json
}

/** Returns an array, or why there is none: JSON.parse knows a path where the add-on knows an offset. */
function withoutPlace(parsed: NDArray | ParseFailure): NDArray | string {
  return 'failure' in parsed ? parsed.failure : parsed
}

/** Returns what tells a large result from another. */
function digestOf(parsed: NDArray | ParseFailure): object {
  if ('failure' in parsed) return parsed
  const { data, shape, dtype } = parsed
  const { buffer, byteOffset, byteLength } = data as Float64Array
  const bytes = new Uint8Array(buffer, byteOffset, byteLength)
  return { shape, dtype, digest: createHash('sha1').update(bytes).digest('hex') }
}

describe.skipIf(addon === undefined)('arrays beside the event loop', () => {
  it.each(numericTypes)('reads and prints %s as the TypeScript codec does', async (dtype) => {
    const array = sampleOf(dtype)
    const json = typescriptCodec.encodeNdarray(array, 'null') as string
    expect(await printed(array)).toBe(json)
    for (const wanted of [dtype, undefined] as (DType | undefined)[])
      expect(withoutPlace(await parseLarge(text(json), wanted))).toEqual(
        withoutPlace(typescriptCodec.parseNdarray(text(json), wanted)),
      )
  })

  it.each([
    '[1,2',
    '[[1],[2,3]]',
    '[1,"a"]',
    '["a","b"]',
    '[[],[]]',
    '[]',
    '[1e400]',
    '[9007199254740993]',
    '[true,false]',
    '[true,2]',
    '[{"0":1}]',
    '7',
    `${'['.repeat(65)}${']'.repeat(65)}`,
    '[1,\u00e9]',
    '',
    ','.repeat(1000),
  ])('answers %j as the TypeScript codec does', async (json) => {
    for (const dtype of [undefined, 'float32', 'int8'] as const)
      expect(withoutPlace(await parseLarge(text(json), dtype))).toEqual(
        withoutPlace(typescriptCodec.parseNdarray(text(json), dtype)),
      )
  })

  it('has no text for a NaN that is an error, and all the others afterwards', async () => {
    const array = new NDArray(Float64Array.of(1, Number.NaN), [2], 'float64')
    expect(await encodeLarge(array, 'error')).toBeUndefined()
    expect(await printed(array)).toBe('[1.0,null]')
  })

  it('prints what the array held when it was asked, whatever becomes of the array', async () => {
    const data = new Float64Array(50_000).fill(1.5)
    const array = new NDArray(data, [50_000], 'float64')
    const pending = printed(array)
    data.fill(2.5)
    structuredClone(data.buffer, { transfer: [data.buffer] })
    expect(await pending).toBe(`[${'1.5,'.repeat(49_999)}1.5]`)
  })

  it('reads what the text held when it was asked, whatever becomes of the text', async () => {
    const json = Buffer.alloc(3_000_001, '[1.5,2.5,')
    json.write(']', 3_000_000)
    json.fill(' ', 1, 2_999_001)
    json.write(`${'7,'.repeat(499)}7`, 2_999_001)
    const expected = typescriptCodec.parseNdarray(json, undefined)
    const pending = parseLarge(json, undefined)
    // As a user's code may that hands the bytes to a thread of its own.
    const moved = structuredClone(json.buffer, { transfer: [json.buffer] })
    new Uint8Array(moved).fill(0x78)
    expect(await pending).toEqual(expected)
  })

  /** Pieces are made where threads are spare. */
  const calm = () =>
    vi.waitUntil(() => nativeLimiter.spare > 0 || availableParallelism() === 1, { timeout: 10_000 })

  it.each([
    ['rows', '[[0.5,1,-2.25e3],', '[7,8,9]]'],
    ["rows as Python's json prints them", '[[0.5, 1, -2.25e3], ', '[7, 8, 9]]'],
    ['rows on lines', '[\n [0.5,1,-2.25e3],', '\n [7,8,9]\n]\n'],
    ['numbers', '[0.5,1,-2,', '7]'],
    ['matrices', '[[[1,2],[3,4]],', '[[7,8],[9,0]]]'],
    ['flags', '[[true,false],', '[true,true]]'],
    ['numbers and nulls', '[null,1,', 'NaN]'],
    ['empty lists', '[[],', '[]]'],
    ['a shorter last row', '[[1,2,3],', '[7,8]]'],
    ['longer last rows', '[[1,2,3],', '[7,8,9],'.repeat(1000).concat('[1,2,3,4]]')],
    ['a deeper last row', '[[1,2,3],', '[[7,8,9]]]'],
    ['a bracket too many', '[[1,2,3],', '[1,2,3]],[7,8,9]]'],
    ['a bracket too few', '[[1,2,3],', '[7,8,9]'],
    ['a comma too many', '[[1,2,3],', ',[7,8,9]]'],
    ['a mark of the byte order', '[[1,2,3],', '[7,8,9],\ufeff[7,8,9]]'],
    ['a comma at the end', '[[1,2,3],', ']'],
    ['a text behind the array', '[[1,2,3],', '[7,8,9]] x'],
    ['another kind in the last row', '[[1,2,3],', '[7,true,9]]'],
  ])('reads 4 MiB of %s in pieces as in one', async (_, begin, end) => {
    const [open] = /^\[\s*(?=\[|[^[])/.exec(begin) as RegExpExecArray
    const item = begin.slice(open.length)
    const json = text(`${open}${item.repeat(Math.ceil(4.2e6 / item.length))}${end}`)
    await calm()
    for (const dtype of [undefined, 'int8'] as const)
      expect(digestOf(await parseLarge(json, dtype, false, true))).toEqual(
        digestOf(numberCodec.parseNdarray(json, dtype, false)),
      )
  })

  it.each([
    [[700_000], 'float64'],
    [[5, 300_000], 'float32'],
    [[1, 3, 600_000], 'float64'],
    [[1_500_000, 3], 'int8'],
  ] as const)('prints an array of %j %s in pieces as in one', async (shape, dtype) => {
    const Container = dataConstructor(dtype)
    const size = shape.reduce<number>((all, dim) => all * dim, 1)
    const data = new Container(size)
    for (let i = 0; i < size; i++) data[i] = (i * 7919) % 100_003
    const array = new NDArray(data, shape, dtype)
    const whole = numberCodec.encodeNdarray(array, 'null')
    await calm()
    expect((await printed(array)) === Buffer.from(whole as Uint8Array).toString()).toBe(true)
  })

  it('answers many at once, each with its own', async () => {
    const all = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const data = new Float64Array(20_000).fill(i / 8)
        const json = await printed(new NDArray(data, [100, 200], 'float64'))
        const parsed = await parseLarge(text(json as string), 'float32')
        return 'failure' in parsed
          ? parsed.failure
          : [parsed.shape, new Set(parsed.data as Float32Array)]
      }),
    )
    expect(all).toEqual(Array.from({ length: 40 }, (_, i) => [[100, 200], new Set([i / 8])]))
  })

  it('takes a call that never ran for no result', () => {
    // What the buffer holds is whatever lay in that memory before.
    expect(parsedOf(resultWords(), new ArrayBuffer(64))).toBeUndefined()
  })

  it('lets a thread end while it is at work', async () => {
    const script = `
      const { parentPort } = require('node:worker_threads')
      const addon = require(${JSON.stringify(nativePath)})
      const json = Buffer.from('[' + '0.1234567890123456,'.repeat(1e6) + '1]')
      const out = new Uint8Array(8e6 + 8)
      for (let i = 0; i < 4; i++) addon.parseNdarrayAsync(json, 11, new Float64Array(68), out, false, false)
      parentPort.postMessage('working')
    `
    for (let i = 0; i < 3; i++) {
      const worker = new Worker(script, { eval: true })
      await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
      await worker.terminate()
    }
  })

  it('refuses calls outside its contract with a TypeError instead of writing to memory it should not', async () => {
    const { createRequire } = await import('node:module')
    const addon = createRequire(import.meta.url)(nativePath as string)
    const head = new Float64Array(68)
    head.set([0, 0, 0, 1, 4])
    const json = text('[1,2,3]')
    expect(() => addon.countElementsAsync('[1]', -1, head)).toThrow(TypeError)
    expect(() => addon.parseNdarrayAsync(json, -1, head)).toThrow(TypeError)
    expect(() =>
      addon.parseNdarrayAsync(json, -1, head, new Float64Array(3), false, false),
    ).toThrow(TypeError)
    expect(() =>
      addon.parseNdarrayAsync(json, -1, head, new Uint8Array(new ArrayBuffer(40), 1), false, false),
    ).toThrow(TypeError)
    expect(() =>
      addon.encodeNdarrayAsync(new Float64Array(4), 11, 0, head, new Uint8Array(10)),
    ).toThrow(TypeError)
    expect(() =>
      addon.encodeNdarrayAsync(new Float64Array(5), 11, 0, head, new Uint8Array(1000)),
    ).toThrow(TypeError)
    const tooShort = new Float64Array(68)
    await addon.parseNdarrayAsync(json, 11, tooShort, new Uint8Array(16), false, false)
    expect(tooShort[0]).toBe(8)
  })
})
