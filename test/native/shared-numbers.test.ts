import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { headerPath, sharedHeader } from './shared-numbers.ts'

it('keeps the numbers of the add-on those of TypeScript', () => {
  expect(readFileSync(headerPath, 'utf8')).toBe(sharedHeader())
})
