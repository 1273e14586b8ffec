import { cachedDataVersionTag, setFlagsFromString } from 'node:v8'
import { expect, it, onTestFinished } from 'vitest'
import {
  endLoading,
  loadWithDefaults,
  workerNodeOptions,
} from '../../../src/server/workers/worker-options.ts'

it('workers load their code with the flags that the compiled modules of Node were made with', () => {
  const { execArgv } = process
  onTestFinished(() => {
    loadWithDefaults()
    process.execArgv = execArgv
  })
  // V8 reads compiled code of the same flags alone; the tag is made of them.
  const plain = cachedDataVersionTag()
  process.execArgv = [...workerNodeOptions, '--initial-old-space-size=96']
  for (const option of process.execArgv) setFlagsFromString(option)
  const changed = cachedDataVersionTag()
  expect(changed).not.toBe(plain)
  loadWithDefaults()
  expect(cachedDataVersionTag()).toBe(plain)
  endLoading()
  expect(cachedDataVersionTag()).toBe(changed)
})
