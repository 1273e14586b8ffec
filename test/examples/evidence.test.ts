import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { deliveriesOf } from '../../examples/evidence/day.ts'
import { load } from '../../examples/evidence/model.ts'
import { folder, root } from '../cli/process.ts'

it('tells the whole story: a day is recorded, the next version is found out, and the canary goes back', async () => {
  const cwd = folder({})
  const args = ['--import', 'tsx', join(root, 'examples/evidence/story.ts'), cwd]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill())
  let told = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const [code] = await once(child, 'close')
  expect([code, errors.includes('Error:')]).toEqual([0, false])
  const [, recorded, replayed, canary] = told.split(/^\d\. /m)
  expect(recorded).toContain('600 answers of 200')
  expect(recorded).toMatch(/capture\/estimate\/.*\.parquet\nexit code 0/)
  expect(replayed).toContain('exit code 1')
  expect(canary).toContain('serving_split_canary_share{split="deliveries"} 0')
  expect(canary).toContain('gives all calls to stable')
  expect(readFileSync(join(cwd, 'report.html'), 'utf8')).toContain('minutes')
  // The next version is other in rush hours, and fails for scooters.
  const [stable, next] = ['stable', 'next'].map((name) =>
    load(join(root, `examples/evidence/${name}.json`)),
  )
  const wrong = deliveriesOf(600).filter((delivery) => {
    if (delivery.vehicle === 'scooter') return true
    const [[expected], [actual]] = [stable, next].map((model) => model.estimate([delivery]))
    return expected !== actual
  })
  expect(replayed).toContain(`CHANGED: ${wrong.length} of 600 calls`)
}, 120_000)
