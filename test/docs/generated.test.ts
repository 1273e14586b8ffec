import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { generated } from './generated.ts'

describe('the generated pages', () => {
  it.each(generated)('$file is what npm run docs:generate writes', async ({ url, make }) => {
    expect(readFileSync(url, 'utf8')).toBe(await make())
  })
})
