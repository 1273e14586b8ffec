/** Each folder of examples/ is one that a person can start from: a short README with a picture, and a test. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../cli/process.ts'

const names = readdirSync(join(root, 'examples'))
const gallery = readFileSync(join(root, 'docs/examples/index.md'), 'utf8')

it('there are examples', () => {
  expect(names.length).toBeGreaterThan(10)
})

describe.each(names)('examples/%s', (name) => {
  const readme = readFileSync(join(root, 'examples', name, 'README.md'), 'utf8')

  it('has a short README, with the command that starts it', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(24)
    expect(readme).toMatch(new RegExp(`serving serve examples/${name}/service.ts`))
    expect(existsSync(join(root, 'examples', name, 'service.ts'))).toBe(true)
  })

  it('has a small picture, which the gallery shows', () => {
    expect(readme).toMatch(new RegExp(`^!\\[.+\\]\\(../../docs/examples/${name}.png\\)$`, 'm'))
    const picture = join(root, `docs/examples/${name}.png`)
    expect(readFileSync(picture).subarray(1, 4).toString()).toBe('PNG')
    expect(statSync(picture).size).toBeLessThanOrEqual(150_000)
    expect(gallery).toContain(`](./${name}.png)`)
  })

  it('has a test', () => {
    expect(existsSync(join(root, `test/examples/${name}.test.ts`))).toBe(true)
  })
})
