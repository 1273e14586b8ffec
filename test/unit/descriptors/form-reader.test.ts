import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Context, HeaderList } from 'serving'
import { expect, it } from 'vitest'
import type { BodyReceiver } from '../../../src/descriptors/descriptor.ts'
import { FormReader } from '../../../src/descriptors/form-reader.ts'
import { formOf } from './requests.ts'

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
