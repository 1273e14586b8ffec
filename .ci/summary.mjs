/**
 * Reads vitest's reports of runs, names what failed, and ends with the line "N passed, N failed".
 * `node .ci/summary.mjs RUN…`: RUN.json is the report and RUN.log what vitest printed.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'

const paths = process.argv.slice(2)
const nameOf = (run) => run.split('/').at(-1)
// Nothing written: the build before the tests failed, or vitest itself ended, whatever its exit code.
const ended = paths.filter((run) => !existsSync(`${run}.json`))
const runs = paths
  .filter((run) => !ended.includes(run))
  .map((run) => JSON.parse(readFileSync(`${run}.json`, 'utf8')))
const files = runs.flatMap(({ testResults }) => testResults)
const success = runs.every((run) => run.success)
const statuses = files.flatMap((file) => file.assertionResults.map((test) => test.status))
const passed = statuses.filter((status) => status === 'passed').length
// Named here, since the benchmark's tables stand between them and the place where they failed.
for (const file of files) {
  for (const { fullName, status, failureMessages } of file.assertionResults.filter(
    (test) => test.failureMessages[0],
  )) {
    console.log(`${status}: ${file.name}: ${fullName}`)
    console.log(failureMessages[0].split('\n').slice(0, 8).join('\n'))
  }
}
let failed = statuses.filter((status) => status === 'failed').length
for (const run of ended) {
  console.log(`ended without a report: ${nameOf(run)}`)
  failed++
}
// A file that cannot be loaded has no tests. One whose process crashed has tests without a result, "pending".
const isLost = ({ status, assertionResults: tests }) =>
  tests.length === 0 ||
  tests.some((test) => test.status === 'pending') ||
  (status === 'failed' && !tests.some((test) => test.status === 'failed'))
for (const file of files.filter(isLost)) {
  console.log(`not loaded or not finished: ${file.name}`)
  failed++
}
// Crashes of test processes, and errors outside of any test: the JSON does not have them.
for (const run of paths) {
  const [, errors] = readFileSync(`${run}.log`, 'utf8').split(/^.*Unhandled Errors.*$/m)
  if (errors === undefined) continue
  console.log(
    `errors outside of tests, ${nameOf(run)}:${errors.split('\n').slice(0, 60).join('\n')}`,
  )
  failed++
}
if (!success) failed = Math.max(failed, 1)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
