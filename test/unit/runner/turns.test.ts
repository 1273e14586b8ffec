import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InvalidArgument } from '../../../src/core/errors.ts'
import { BinaryFile } from '../../../src/core/file/binary-file.ts'
import { TempFile } from '../../../src/core/file/temp-file.ts'
import { bytesOf } from '../../../src/core/memory/byte-copy.ts'
import { turnBytes } from '../../../src/core/memory/copies.ts'
import { move } from '../../../src/runner/transfer.ts'
import { NDArray } from '../../../src/values/array/ndarray.ts'
import { setUp } from './test-worker.ts'

const megabyte = 1024 * 1024

/** An array of so many MiB, of which no two parts are equal. */
function large(megabytes: number, first = 0): NDArray<'float64'> {
  const size = (megabytes * megabyte) / 8
  return new NDArray(
    Float64Array.from({ length: size }, (_, i) => first + i),
    [1, size],
  )
}

/** Lets turns of the event loop pass until a message comes; returns how many. A disk may take thousands. */
async function turnsUntil(sent: readonly unknown[]): Promise<number> {
  const end = performance.now() + 20_000
  let turns = 0
  for (; sent.length === 0 && performance.now() < end; turns++) await turn()
  return turns
}

describe('the event loop goes on while a runner copies', () => {
  const turns = (48 * megabyte) / turnBytes - 2

  it('a large array', async () => {
    const { call, clock, thread } = setUp({ batchable: false })
    const x = large(48)
    void call(x)
    await clock.turn()
    expect(await turnsUntil(thread.sent)).toBeGreaterThanOrEqual(turns)
    const [{ inputs }] = thread.sent
    const { data, shape } = inputs[0] as NDArray<'float64'>
    expect([shape, Buffer.compare(Buffer.from(data.buffer), Buffer.from(x.data.buffer))]).toEqual([
      x.shape,
      0,
    ])
    expect(data.buffer).not.toBe(x.data.buffer)
  })

  it('the rows of a batch, once', async () => {
    const { call, clock, thread } = setUp()
    const [x, y] = [large(24), large(24, 1e7)]
    for (const each of [x, y]) void call(each, {}, 'float64')
    await clock.turn()
    const counted = await turnsUntil(thread.sent)
    expect(counted).toBeGreaterThanOrEqual(turns)
    expect(counted).toBeLessThan(2 * turns)
    const { data, shape } = thread.sent[0].inputs[0] as NDArray<'float64'>
    expect(shape).toEqual([2, x.shape[1]])
    expect([data[1], data[x.data.length - 1], data[x.data.length], data[data.length - 1]]).toEqual([
      1,
      x.data[x.data.length - 1],
      1e7,
      y.data[y.data.length - 1],
    ])
  })

  it('many arrays of one value, bytes, and memory without a view', async () => {
    const { call, clock, thread } = setUp({ batchable: false })
    const value = {
      list: Array.from({ length: 15 }, (_, i) => large(2, i)),
      bytes: Buffer.alloc(9 * megabyte, 'ab'),
      view: new DataView(new ArrayBuffer(4 * megabyte), 8),
      memory: new Uint8Array(5 * megabyte).fill(7).buffer,
    }
    value.view.setInt32(0, 5)
    void call(value)
    await clock.turn()
    expect(await turnsUntil(thread.sent)).toBeGreaterThanOrEqual(turns)
    const sent = thread.sent[0].inputs[0] as typeof value
    const isEqual = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0
    for (const [i, { data, shape }] of sent.list.entries()) {
      expect(shape).toEqual(value.list[i].shape)
      expect(isEqual(bytesOf(data), bytesOf(value.list[i].data)), `${i}`).toBe(true)
    }
    expect(isEqual(sent.bytes, value.bytes)).toBe(true)
    expect([sent.view.byteLength, sent.view.getInt32(0)]).toEqual([value.view.byteLength, 5])
    expect(isEqual(new Uint8Array(sent.memory), new Uint8Array(value.memory))).toBe(true)
  })

  it('a file that lies on disk', async () => {
    const content = Buffer.alloc(12 * megabyte, 'some text ')
    const disk = new TempFile()
    onTestFinished(() => disk.release())
    disk.writeSync(content, 0)
    const { call, clock, thread } = setUp({ batchable: false })
    void call(BinaryFile.onDisk(disk, content.length, { name: 'a.txt' }))
    await clock.turn()
    expect(await turnsUntil(thread.sent)).toBeGreaterThan(12)
    const file = thread.sent[0].inputs[0] as BinaryFile
    expect([file.name, Buffer.compare(file.bytes, content)]).toEqual(['a.txt', 0])
  })
})

describe('a call whose memory is copied in turns', () => {
  it('is not sent once its caller has given it up', async () => {
    const { call, clock, dispatcher, thread } = setUp({ batchable: false })
    const gone = new AbortController()
    const given = call(large(48), { signal: gone.signal })
    await clock.turn()
    await turn()
    gone.abort()
    expect(await given).toMatchObject({ code: 'client_closed' })
    for (let i = 0; i < 100; i++) await turn()
    expect([thread.sent.length, dispatcher.states.busy]).toEqual([0, 0])
  })

  it('fails if its memory is given away meanwhile', async () => {
    const { call, clock, thread } = setUp({ batchable: false })
    const x = large(48)
    const failed = call(x)
    await clock.turn()
    await turn()
    move(x)
    expect(await failed).toBeInstanceOf(InvalidArgument)
    expect(thread.sent).toEqual([])
  })
})
