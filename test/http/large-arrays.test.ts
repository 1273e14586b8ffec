import { expect, it } from 'vitest'
import { bufferPool } from '../../src/core/memory/buffer-pool.ts'
import { NumpyNdarray } from '../../src/descriptors/numpy-ndarray.ts'
import { NDArray } from '../../src/values/array/ndarray.ts'
import { describeNative } from '../native-only.ts'
import { engines, post, start, turns } from './harness.ts'

const count = 300_000
/** 1.8 MB of text, more than the event loop reads and prints itself; every element tells whose it is. */
const largeText = (mark: number) => `[${`${mark}.125,`.repeat(count - 1)}${mark}.125]`

// Longer than JSON.parse is given.
describeNative.each(engines)('large arrays, read by the add-on, on %s', (engine) => {
  const echo = (options = {}) =>
    start(
      engine,
      (svc) =>
        svc.api({ input: new NumpyNdarray(), output: new NumpyNdarray() }, function echo(array) {
          return array
        }),
      options,
    )

  it('come back to the client that sent them, in buffers that are used again and again', async () => {
    const server = await echo()
    for (let round = 0; round < 3; round++) {
      const marks = Array.from({ length: 5 }, (_, i) => 10 + round * 5 + i)
      const answers = await Promise.all(
        marks.map((mark) => server.ask(post('/echo', largeText(mark)))),
      )
      expect(answers.map(({ text }, i) => text === largeText(marks[i]))).toEqual(
        marks.map(() => true),
      )
    }
  })

  it('leave their buffers to the next ones: of the body, and of the text', async () => {
    const server = await echo()
    bufferPool.clear()
    expect((await server.ask(post('/echo', largeText(10)))).status).toBe(200)
    // The room for a text is reckoned at 27 bytes a number.
    await expect.poll(() => bufferPool.takeUsed(count * 27)).toBeDefined()
    expect(bufferPool.takeUsed(largeText(10).length)).toBeDefined()
  })

  it('stay what they are until a slow reader has them', async () => {
    const server = await echo()
    const slow = await server.connect()
    slow.socket.pause()
    slow.write(post('/echo', largeText(10)))
    for (let mark = 20; mark < 26; mark++)
      expect((await server.ask(post('/echo', largeText(mark)))).text === largeText(mark)).toBe(true)
    slow.socket.resume()
    expect((await slow.answer()).text === largeText(10)).toBe(true)
  })

  it('whose clients go away at any time leave the place to the next one', async () => {
    const server = await echo({ maxInFlight: 1 })
    const request = post('/echo', largeText(10))
    for (const [sent, waits] of [
      [request.length / 2, 3],
      [request.length, 0],
      [request.length, 3],
      [request.length, 30],
    ]) {
      const raw = await server.connect()
      await raw.writeAlone(request.slice(0, sent))
      await turns(waits)
      raw.destroy()
      await raw.closed
      let status = 503
      while (status === 503) status = (await server.ask(post('/echo', '[1]'))).status
      expect(status).toBe(200)
    }
    expect((await server.ask(request)).text === largeText(10)).toBe(true)
  })

  it('are refused with the place of the offence', async () => {
    const server = await echo()
    const text = `${largeText(10).slice(0, -1)},"x"]`
    const answer = await server.ask(post('/echo', text.replace('"x"', '[1]')))
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      400,
      { reason: 'ragged', offset: text.length - 4 },
    ])
  })

  it('that a function uses again after it has answered are sent as they were answered', async () => {
    const data = new Float64Array(count)
    const server = await start(engine, (svc) =>
      svc.api({ input: new NumpyNdarray(), output: new NumpyNdarray() }, function fill(mark) {
        data.fill((mark.data as Float64Array)[0])
        return new NDArray(data)
      }),
    )
    const answers = await Promise.all(
      [1, 2, 3].map((mark) => server.ask(post('/fill', `[${mark}]`))),
    )
    expect(answers.map(({ text }) => new Set(JSON.parse(text)))).toEqual([
      new Set([1]),
      new Set([2]),
      new Set([3]),
    ])
  })
})
