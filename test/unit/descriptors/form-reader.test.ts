import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Context, HeaderList, io } from 'serving'
import { describe, expect, it } from 'vitest'
import type { BodyReceiver } from '../../../src/descriptors/descriptor.ts'
import { FormReader } from '../../../src/descriptors/form-reader.ts'
import { formOf, requestOf } from './requests.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

it('keeps nothing of a piece that its receiver has dealt with, however many waited', async () => {
  const results: WeakRef<object>[] = []
  const receiver: BodyReceiver<string> = {
    write: () => {
      const result = {}
      results.push(new WeakRef(result))
      return Promise.resolve(result) as unknown as Promise<void>
    },
    end: () => 'all',
    abort: () => {},
  }
  const context = new Context({ headers: HeaderList.from({}) })
  let value: unknown
  const reader = new FormReader(
    'BND',
    {
      plan: ({ name }) => ({
        descriptor: { fromHttpRequest: () => 'whole', receive: () => receiver },
        path: name,
        store: (got) => {
          value = got
        },
      }),
      finish: () => value,
    },
    context,
  )
  const form = formOf(['a', 'x'.repeat(1000)])
  for (let at = 0; at < 900; at += 10) await reader.write(form.subarray(at, at + 10))
  await new Promise(setImmediate)
  collectGarbage()
  expect(results.length).toBeGreaterThan(50)
  expect(results.filter((result) => result.deref() !== undefined).length).toBeLessThan(3)
  await reader.write(form.subarray(900))
  expect(await reader.end()).toBe('all')
})

describe('a long form', () => {
  const type = 'multipart/form-data; boundary=BND'
  const file = Buffer.alloc(10_000_000, '\r')
  const form = formOf(
    ['before', 'x'],
    ['f', file, 'n.bin', 'application/octet-stream'],
    ['after', 'y'],
  )

  it('has the parts that a short one has', async () => {
    const parts = { before: new io.Text(), f: new io.File(), after: new io.Text() }
    const { before, f, after } = await new io.Multipart(parts).fromHttpRequest(
      requestOf(form, type),
    )
    expect([before, after]).toEqual(['x', 'y'])
    expect(file.equals(f.bytes)).toBe(true)
  })

  it('that is cut off is refused', async () => {
    const read = async () => new io.File().fromHttpRequest(requestOf(form.subarray(0, -20), type))
    await expect(read()).rejects.toMatchObject({ status: 400, reason: 'part' })
  })
})
