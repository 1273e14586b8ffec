import { createRequire } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { nativePath, nativeStatus } from '../../src/core/native/add-on.ts'
import { numberCodec } from '../../src/values/array/array-text.ts'
import { nativeCodec } from '../../src/values/array/native-codec.ts'

// Only a machine that cannot build it, or a run that leaves it out, may go without; anything else is a defect.
const excused = /^(switched off|not built)/.test(nativeStatus.reason ?? '')

it.skipIf(excused)('the add-on is loaded wherever it can be built', () => {
  expect(nativeStatus).toEqual({ loaded: true })
  expect(numberCodec.name).toBe('native')
})

it.runIf(excused)('without the add-on the TypeScript codec serves', () => {
  expect(numberCodec.name).toBe('typescript')
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function settled(): Promise<NodeJS.MemoryUsage> {
  for (let i = 0; i < 4; i++) {
    collect()
    await setImmediate()
  }
  return process.memoryUsage()
}

describe.skipIf(nativeCodec === undefined)('the add-on', () => {
  it('gives two worker threads at once the same answers', async () => {
    const script = `
      const { parentPort } = require('node:worker_threads')
      const addon = require(${JSON.stringify(nativePath)})
      const head = new Float64Array(68)
      const json = Buffer.from(JSON.stringify(Array.from({ length: 50 }, (_, i) => [i / 3, -i, i * 1e30])))
      const texts = new Set()
      for (let i = 0; i < 2000; i++) {
        const data = new Float64Array(addon.parseNdarray(json, -1, head))
        texts.add(String(addon.encodeNdarray(data, 11, 0, head)))
      }
      parentPort.postMessage([...texts])
    `
    const run = () =>
      new Promise<string[]>((resolve, reject) => {
        const worker = new Worker(script, { eval: true })
        worker.once('message', resolve).once('error', reject)
      })
    const [one, two] = await Promise.all([run(), run()])
    const rows = Array.from({ length: 50 }, (_, i) => [i / 3, -i, i * 1e30])
    expect(one).toHaveLength(1)
    expect(JSON.parse(one[0])).toEqual(JSON.parse(JSON.stringify(rows)))
    expect(two).toEqual(one)
  })

  it('leaves no memory behind after 100 000 calls, good and bad', async () => {
    const good = Buffer.from(`[${Array.from({ length: 100 }, (_, i) => i / 7).join()}]`)
    const bools = Buffer.from(`[${'true,'.repeat(99)}false]`)
    const bad = Buffer.from(`[${','.repeat(20000)}`)
    const calls = async (times: number) => {
      for (let i = 0; i < times; i += 5) {
        const array = nativeCodec!.parseNdarray(good, 'float32')
        if ('failure' in array) throw new Error(array.failure)
        nativeCodec!.encodeNdarray(array, 'null')
        nativeCodec!.parseNdarray(bools, undefined)
        nativeCodec!.parseNdarray(bad, undefined)
        nativeCodec!.parseNdarray(good, 'int8')
        if (i % 5000 === 0) await setImmediate()
      }
    }
    await calls(20000)
    const before = await settled()
    await calls(100000)
    const after = await settled()
    // A leak of one result a call would be 40 MB, of one failed call's buffer 3 GB.
    expect(after.heapUsed - before.heapUsed).toBeLessThan(8e6)
    expect(after.external - before.external).toBeLessThan(8e6)
    expect(after.rss - before.rss).toBeLessThan(32e6)
  }, 60_000)

  it('refuses calls outside its contract with a TypeError instead of reading memory it should not', () => {
    const addon = createRequire(import.meta.url)(nativePath as string)
    const head = new Float64Array(68)
    const shape = (...dims: number[]) =>
      Float64Array.from({ length: 68 }, (_, i) => (i === 3 ? dims.length : (dims[i - 4] ?? 0)))
    const data = new Float64Array(4)
    expect(() => addon.parseNdarray()).toThrow(TypeError)
    expect(() => addon.parseNdarray('[1]', -1, head)).toThrow(TypeError)
    expect(() => addon.parseNdarray(new Float64Array(1), -1, head)).toThrow(TypeError)
    expect(() => addon.parseNdarray(Buffer.from('[1]'), 12, head)).toThrow(TypeError)
    expect(() => addon.parseNdarray(Buffer.from('[1]'), -1, new Float64Array(3))).toThrow(TypeError)
    expect(() => addon.encodeNdarray(data, 11, 0, shape(5))).toThrow(TypeError)
    expect(() => addon.encodeNdarray(data, 11, 0, shape(2, -2))).toThrow(TypeError)
    expect(() => addon.encodeNdarray(data, 11, 0, shape(0, 4))).toThrow(TypeError)
    expect(() => addon.encodeNdarray(data, 12, 0, shape(4))).toThrow(TypeError)
    expect(() => addon.encodeNdarray(new Uint8Array(4), 11, 0, shape(4))).toThrow(TypeError)
    expect(() => addon.encodeNdarray(data, 11, 3, shape(4))).toThrow(TypeError)
    expect(addon.encodeNdarray(data, 11, 0, shape(2, 2))).toBe('[[0.0,0.0],[0.0,0.0]]')
  })
})
