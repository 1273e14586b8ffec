import { expect, it } from 'vitest'
import { retryOf } from '../../../src/jobs/jobs.ts'
import { newJob } from '../../jobs/stores.ts'

it('no id of a job looks like an option of the command', () => {
  const before = newJob()
  const ids = Array.from({ length: 2_000 }, () => retryOf(before).id)
  expect(ids.filter((id) => !/^\w[\w-]{21}$/.test(id))).toEqual([])
})
