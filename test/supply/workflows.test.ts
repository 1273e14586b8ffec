/** The workflows call the steps of .ci/run, all of them, and the repository's files agree on versions. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { newFolder } from '../project.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8')

interface Workflow {
  readonly jobs: {
    readonly step: {
      readonly container: string
      readonly strategy: { readonly matrix: { readonly steps: readonly string[] } }
      readonly steps: readonly { readonly run?: string }[]
    }
  }
}

describe('the workflow of each change', () => {
  const { step } = (parse(read('.github/workflows/ci.yml')) as Workflow).jobs
  const steps = execFileSync('bash', ['.ci/run', '--list'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')

  it('runs every step of .ci/run', () => {
    const run = step.strategy.matrix.steps.flatMap((each) => each.split(' '))
    // `test` is what test-unit, test-server and test-process share out.
    expect(run.toSorted()).toEqual(steps.filter((each) => each !== 'test').toSorted())
    expect(step.steps.map((each) => each.run)).toContain(`.ci/run $${'{{ matrix.steps }}'}`)
  })

  it('runs on the oldest Node that the package is made for', () => {
    const { engines } = JSON.parse(read('package.json')) as {
      readonly engines: { readonly node: string }
    }
    expect(engines.node).toBe(`>=${/^node:(\d+)/.exec(step.container)?.[1]}`)
  })
})

it('.ci/run names the steps it has if it gets another one', () => {
  expect(() => execFileSync('bash', ['.ci/run', 'none'], { cwd: root, stdio: 'pipe' })).toThrow(
    /no step none/,
  )
})

it('.ci/run fails if vitest ends without a report, whatever its exit code, and names the run', () => {
  const tests = [{ fullName: 'adds', status: 'passed', failureMessages: [] }]
  const report = {
    success: true,
    testResults: [{ name: 'a', status: 'passed', assertionResults: tests }],
  }
  const folder = newFolder({
    'whole.json': JSON.stringify(report),
    'whole.log': '',
    'node-24.log': '',
  })
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const summary = (...runs: string[]) =>
    spawnSync(process.execPath, ['.ci/summary.mjs', ...runs.map((run) => join(folder, run))], {
      cwd: root,
      encoding: 'utf8',
    })
  expect(summary('whole')).toMatchObject({ status: 0, stdout: '1 passed, 0 failed\n' })
  expect(summary('whole', 'node-24')).toMatchObject({
    status: 1,
    stdout: 'ended without a report: node-24\n1 passed, 1 failed\n',
  })
})

it('the Node of developers is one that SUPPORT.md names in full support', () => {
  expect(read('SUPPORT.md')).toMatch(
    new RegExp(`^\\| .*\\b${read('.nvmrc').trim()}\\b.* \\| full`, 'm'),
  )
})
