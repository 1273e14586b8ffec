/** Fields of schemas that no sample fits: each says what was expected. */
import { io, Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { chromium, servePage } from './browser.ts'

const narrow = z.int().min(2).max(1)
const impossible = z.object({
  count: narrow,
  tags: z.array(z.string()).min(2).max(1),
  rows: z.array(z.object({ share: z.number().min(1).max(4).multipleOf(5) })).min(1),
  size: z.union([z.int().min(5).max(4), z.literal('all')]),
  word: z.string().regex(/^(?=.*[0-9])[a-z0-9]{8,}$/),
  note: z.string().min(3).optional(),
})
const svc = new Service('samples')
const output = new io.JSON()
svc.api({ input: new io.JSON({ schema: impossible }), output, name: 'members' }, () => null)
svc.api({ input: new io.JSON({ schema: narrow }), output, name: 'whole' }, () => null)

describe.skipIf(chromium === undefined)('samples in Chromium (needs chromium)', () => {
  const on = servePage(svc, '/v1')
  const hints = async () =>
    (await on.texts('form .dim')).filter((text) => text?.startsWith('There is no sample'))

  it('are missing with a reason, in each field once', async () => {
    await on.open('members')
    expect(await hints()).toEqual([
      'There is no sample: expected a number that is whole, at least 2, at most 1.',
      'There is no sample: expected at most 1 items.',
      'There is no sample: expected a number that is at least 1, at most 4, a multiple of 5.',
      'There is no sample: expected a text like ^(?=.*[0-9])[a-z0-9]{8,}$.',
    ])
    // A kind of a union that has a sample comes first.
    expect(await on.page.$eval('select[aria-label="size: kind"]', (each) => each.value)).toBe('1')
    expect((await on.send()).status).toBe('400')
    expect(on.faults).toEqual([])
  })

  it('are missing with a reason for a whole input, too', async () => {
    await on.open('whole')
    expect(await hints()).toEqual([
      'There is no sample: expected a number that is whole, at least 2, at most 1.',
    ])
    expect(on.faults).toEqual([])
  })
})
