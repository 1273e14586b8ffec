import { HeaderList, HttpRequest, io, NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { encodeNdarrayFlatbuffer } from '../../../src/array/ndarray-flatbuffer.ts'
import { encodeNpy } from '../../../src/array/npy.ts'
import { runAtOnce } from '../../../src/memory/slices.ts'

type Options = io.NumpyNdarrayOptions

/**
 * Returns the longest wait of a neighbour for its turn of the event loop, as a share of all the time that the work
 * takes.
 */
async function longestWait(work: () => unknown): Promise<number> {
  let longest = 0
  let isDone = false
  const start = performance.now()
  let last = start
  const tick = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (!isDone) setImmediate(tick)
  }
  setImmediate(tick)
  try {
    await work()
  } catch {
    // A refusal takes its time, too.
  }
  isDone = true
  tick()
  return longest / (last - start)
}

const json = (text: string) => ({ type: 'application/json', bytes: Buffer.from(text) })
const list = (element: string, count: number, last = element) => json(`[${`${element},`.repeat(count)}${last}]`)
const texts = new NDArray(Array.from({ length: 300_000 }, (_, i) => `text ${i}`))
/** Returns a file of numpy's in Fortran order, its header made of ours. */
function fortran(array: NDArray): Uint8Array {
  const bytes = Buffer.from(runAtOnce(encodeNpy(array)))
  bytes.write('True, ', bytes.indexOf('False,'), 'latin1')
  return bytes
}
/** Returns a file of numpy's whose numbers have their highest byte first. */
function bigEndian(array: NDArray): Uint8Array {
  const bytes = Buffer.from(runAtOnce(encodeNpy(array)))
  bytes[bytes.indexOf('<f4')] = 0x3e
  return bytes
}
const npy = (bytes: Uint8Array) => ({ type: 'application/x-npy', bytes })
const flags = new NDArray(new Uint8Array(1 << 24), [4096, 4096], 'bool')
const matrix = new NDArray(new Float32Array(1 << 21), [2048, 1024])

const long = new NDArray(new Float32Array(1 << 24), [4096, 4096])
/** Returns the bytes at an odd place in memory. */
function atOddByte(array: NDArray): Uint8Array {
  const bytes = runAtOnce(encodeNpy(array))
  const moved = Buffer.allocUnsafeSlow(bytes.length + 1).subarray(1)
  moved.set(bytes)
  return moved
}

const bodies: [string, { type: string; bytes: Uint8Array }, Options?][] = [
  ['strings', list('"a"', 1_000_000)],
  ['strings with escapes', list('"\\u00e9"', 300_000)],
  ['strings to numbers', list('"1.5"', 600_000), { dtype: 'float32' }],
  ['strings to 64-bit integers', list('"-15"', 600_000), { dtype: 'int64' }],
  ['numbers to strings', list('1.5', 600_000), { dtype: 'str' }],
  ['objects keyed by column index', list('{"0":1,"1":2}', 300_000)],
  ['one object of many columns', json(`[{${Array.from({ length: 400_000 }, (_, i) => `"${i}":1`)}}]`)],
  ['objects in another order', list('{"1":1,"0":2}', 300_000)],
  ['a string behind many numbers', list('1.5', 2_000_000, '"a"')],
  ['bytes that are no UTF-8 behind many strings', list('"a"', 600_000, '"\\xff"')],
  ['an .npy file of texts', npy(runAtOnce(encodeNpy(texts)))],
  ['an .npy file in Fortran order', npy(fortran(flags))],
  ['an .npy file in Fortran order, of floats', npy(fortran(long))],
  ['an .npy file of the other byte order', npy(bigEndian(long))],
  ['an .npy file whose elements lie at odd bytes', npy(atOddByte(long))],
  ['an .npy file of flags', npy(runAtOnce(encodeNpy(flags)))],
  ['an .npy file to be cast', npy(runAtOnce(encodeNpy(matrix))), { dtype: 'int16' }],
  ['a table of texts', { type: 'application/x-flatbuffers', bytes: runAtOnce(encodeNdarrayFlatbuffer(texts)) }],
]

describe('NumpyNdarray leaves the event loop to others', () => {
  it.each(bodies)('while it reads %s', async (_, { type, bytes }, options = {}) => {
    const descriptor = new io.NumpyNdarray(options)
    const read = () => descriptor.fromHttpRequest(new HttpRequest(HeaderList.from({ 'content-type': type }), bytes))
    expect(await longestWait(read)).toBeLessThan(0.5)
  })

  it.each([
    ['an .npy message to be cast', runAtOnce(encodeNpy(matrix)), { dtype: 'int16' }],
    ['an .npy message of texts', runAtOnce(encodeNpy(texts)), {}],
  ] as const)('while it reads %s', async (_, bytes, options) => {
    const descriptor = new io.NumpyNdarray(options)
    expect(await longestWait(() => descriptor.fromProto(bytes))).toBeLessThan(0.5)
  })

  it.each([
    ['texts', texts, {}],
    ['numbers as texts', matrix, { dtype: 'str' }],
    ['numbers under another dtype', matrix, { dtype: 'int32' }],
  ] as const)('while it writes %s', async (_, array, options) => {
    const descriptor = new io.NumpyNdarray(options)
    expect(await longestWait(() => descriptor.toHttpResponse(array))).toBeLessThan(0.5)
  })
})
