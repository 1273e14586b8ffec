/**
 * The pages and pictures of docs/ that are made from the code: `npm run docs:generate` writes them, a test compares.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { speedPicture } from '../../bench/speed.ts'
import { captureFamilies } from '../../src/capture/capture.ts'
import {
  flagOf,
  type OptionName,
  optionEntry,
  optionNames,
  variableOf,
} from '../../src/cli/config/option-table.ts'
import * as errorClasses from '../../src/core/errors.ts'
import { badInputReasons, errorTable } from '../../src/core/errors.ts'
import { JobCounts } from '../../src/jobs/job-metrics.ts'
import { LiveStreams } from '../../src/live/live-streams.ts'
import { ModelPool } from '../../src/runner/model-pool.ts'
import { newState } from '../../src/runner/split-state.ts'
import { splitFamilies } from '../../src/runner/split-version.ts'
import { ServerMetrics } from '../../src/server/telemetry/server-metrics.ts'
import { workerFamilies } from '../../src/server/workers/worker-group.ts'
import type { MetricFamily } from '../../src/telemetry/metrics/metric-family.ts'
import { runnerFamilies } from '../../src/telemetry/metrics/runner-counts.ts'

const root = new URL('../../', import.meta.url)
const note = '<!-- npm run docs:generate writes this page. -->'

function table(heads: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n')
}

function options(): string {
  const groups = [...new Set(optionNames.map((name) => optionEntry(name).group ?? ''))]
  const row = (name: OptionName) => {
    const { help, default: value, shown, unset } = optionEntry(name)
    const initial = shown ?? (value === undefined ? (unset ?? '') : String(value))
    // A link to an example would be dead.
    const meaning = help.replace(/https?:\/\/\S+/, '`$&`')
    return [`\`--${flagOf(name)}\``, `\`${variableOf(name)}\``, initial, meaning]
  }
  const section = (group: string) => {
    const names = optionNames.filter((name) => optionEntry(name).group === group)
    return `## ${group}\n\n${table(['flag', 'environment', 'default', 'meaning'], names.map(row))}`
  }
  const file =
    'In `serving.config.ts` an option has its name in camelCase, such as `maxBodyBytes`. `--max-memory` is'
  return `${note}

# Options

\`serving serve\`, \`dev\`, \`models\` and \`config\` take these options.
[Production](../deploy/production.md) explains them. ${file} \`maxMemoryBytes\`.

${groups.map(section).join('\n\n')}
`
}

function errors(): string {
  type ErrorClass = new (message: string) => { code: string }
  const isClass = ([name, each]: [string, unknown]) =>
    typeof each === 'function' &&
    each.prototype instanceof errorClasses.ServingError &&
    name !== 'SetupError'
  const classes = Object.entries(errorClasses).filter(isClass) as unknown as [string, ErrorClass][]
  const classOf = new Map(classes.map(([name, Class]) => [new Class('').code, name]))
  const rows = Object.entries(errorTable).map(([code, row]) => [
    `\`${code}\``,
    `\`${classOf.get(code)}\``,
    row.status,
    row.grpc,
    row.meaning,
  ])
  return `${note}

# Errors

Every error is \`application/problem+json\` (RFC 9457).

| member | meaning |
|---|---|
| \`type\`, \`title\`, \`status\`, \`detail\` | as RFC 9457 says |
| \`code\` | one of the codes below |
| \`reason\` | kind of a wrong input |
| \`path\` | place in the input: \`user.tags[1]\` |
| \`offset\` | bytes from the start of the body |
| \`errors\` | all that a schema finds wrong, at most 64 |
| \`requestId\` | also in the log |

From 500 up the server logs the cause and does not send it.
A subclass of \`ServingError\` in your code keeps its own status.

\`serving\` exports the classes. Throw one in a function: \`throw new NotFound('expected a known name, received x')\`.

${table(['code', 'class', 'HTTP', 'gRPC', 'meaning'], rows)}

## Reasons

\`reason\` is one of ${badInputReasons.map((reason) => `\`${reason}\``).join(', ')}.
With \`unsupported_media_type\` it is \`media-type\`, with \`payload_too_large\` \`size\`.
`
}

const requestLabels = '`api`, `transport`'
/** Labels by metric: values alone have them. */
const labels: Readonly<Record<string, string>> = {
  serving_requests_total: `${requestLabels}, \`code\``,
  serving_request_duration_seconds: requestLabels,
  serving_request_body_bytes_total: requestLabels,
  serving_response_body_bytes_total: requestLabels,
  serving_rejected_total: '`reason`',
  serving_live_streams: '`api`',
  serving_live_messages_total: '`api`, `direction`',
  serving_queue_depth: '`runner`',
  serving_queue_wait_seconds: '`runner`',
  serving_batch_rows: '`runner`',
  serving_batches_total: '`runner`',
  serving_runner_threads: '`runner`, `state`',
  serving_runner_threads_replaced_total: '`runner`',
  serving_jobs: '`api`, `status`',
  serving_jobs_oldest_seconds: '`api`',
  serving_jobs_paused: '`api`',
  serving_job_wait_seconds: '`api`',
  serving_job_run_seconds: '`api`',
  serving_job_attempts_total: '`api`, `outcome`',
  serving_job_retries_total: '`api`',
  serving_captured_calls_total: '`api`',
  serving_capture_dropped_total: '`api`, `reason`',
  serving_split_seconds: '`split`, `version`',
  serving_split_errors_total: '`split`, `version`',
  serving_split_canary_share: '`split`',
  serving_split_differences_total: '`split`',
  serving_split_dropped_total: '`split`, `reason`',
  serving_pool_models: '`pool`',
  serving_pool_bytes: '`pool`',
  serving_pool_loads_total: '`pool`, `outcome`',
  serving_pool_evictions_total: '`pool`',
}

function metrics(): string {
  const families: MetricFamily[] = [
    ...new ServerMetrics([]).requestFamilies(),
    ...new LiveStreams(1).families(),
    ...runnerFamilies([]),
    ...workerFamilies(1, 0),
    ...new JobCounts({ debug() {}, warn() {} }).families([], []),
    ...captureFamilies([]),
    ...splitFamilies('', newState(0), {}),
    ...new ModelPool('pool', { maxBytes: 1, load: () => ({ model: 0, bytes: 0 }) }).families(),
  ]
  const rows = families.map(({ name, type, help }) => [
    `\`${name}\``,
    type,
    labels[name] ?? '',
    help,
  ])
  return `${note}

# Metrics

[Metrics](../deploy/metrics.md) tells how to scrape them, and what to watch.

${table(['metric', 'type', 'labels', 'meaning'], rows)}

- Also: \`serving_requests_in_flight\`, \`serving_body_memory_bytes\`, \`serving_build_info\`.
- \`transport\` is \`http\`, \`connect\` or \`grpc\`.
- \`code\` is the HTTP status, or the name of the gRPC status such as \`NOT_FOUND\`.
- \`reason\` is \`in_flight\`, \`memory\`, \`queue\`, \`draining\` or the code of an error.
- \`outcome\` is \`completed\`, \`failed\`, \`canceled\`, \`handed_back\` (its worker stopped) or \`lost\` (its lease
  ran out). Of a pool it is \`loaded\` or \`failed\`.
- \`reason\` of a capture is \`memory\`, \`rate\`, \`columns\`, \`failed\` or \`unwritten\`.
- \`version\` is \`stable\`, \`canary\` or \`shadow\`. \`reason\` of a split is \`calls\`, \`memory\`, \`uncopied\` or
  \`unanswered\`.
- Metrics of jobs are there for services with asynchronous APIs. Their \`api\` is \`$webhooks\` for deliveries of
  webhooks.
- Each process tells the jobs of the whole store: take the maximum over processes, not the sum.
- \`state\` is \`busy\`, \`idle\`, \`hung\` or \`starting\`.
- prom-client adds \`nodejs_eventloop_lag_*\`, \`nodejs_gc_duration_seconds\`, \`nodejs_heap_*\`,
  \`nodejs_external_memory_bytes\` and \`process_*\`.
`
}

const commands = [
  '',
  'serve',
  'dev',
  'models',
  'config',
  'openapi',
  'new',
  'types',
  'diff',
  'build',
  'containerize',
  'deploy',
]

function commandLine(): string {
  const help = (command: string) => {
    const args = [
      new URL('dist/cli/main.js', root).pathname,
      ...(command === '' ? [] : [command]),
      '--help',
    ]
    const { PATH = '' } = process.env
    const text = execFileSync(process.execPath, args, {
      encoding: 'utf8',
      env: { PATH, NO_COLOR: '1' },
    }).trim()
    return `${`## serving ${command}`.trim()}\n\n\`\`\`txt\n${text}\n\`\`\``
  }
  return `${note}\n\n# Command line\n\n${commands.map(help).join('\n\n')}\n`
}

/** The generated files, with what makes them. */
export const generated: readonly { file: string; url: URL; make(): string }[] = [
  { file: 'docs/reference/options.md', make: options },
  { file: 'docs/reference/errors.md', make: errors },
  { file: 'docs/reference/metrics.md', make: metrics },
  { file: 'docs/reference/cli.md', make: commandLine },
  {
    file: 'docs/public/speed.svg',
    make: () => speedPicture(JSON.parse(readFileSync(new URL('bench/results.json', root), 'utf8'))),
  },
].map(({ file, make }) => ({ file, url: new URL(file, root), make }))

if (process.argv.includes('--write'))
  for (const { url, make } of generated) writeFileSync(url, make())
