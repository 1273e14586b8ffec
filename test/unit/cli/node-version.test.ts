import { expect, it } from 'vitest'
import { nodeWarning } from '../../../src/cli/node-version.ts'

it('a Node older than engines of package.json is named, others are not', () => {
  expect(nodeWarning('v18.20.8')).toBe(
    'Node v18.20.8 is older than serving is made for: use Node 20 or later',
  )
  for (const version of ['v20.0.0', 'v22.23.3', 'v24.0.0', process.version]) {
    expect(nodeWarning(version)).toBeUndefined()
  }
})
