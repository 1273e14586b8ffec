import { expect, it } from 'vitest'
import { newId } from '../../../src/jobs/new-job.ts'

it('no id of a job looks like an option of the command', () => {
  const ids = Array.from({ length: 2_000 }, () => newId())
  expect(ids.filter((id) => !/^\w[\w-]{21}$/.test(id))).toEqual([])
})
