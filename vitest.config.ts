import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const src = (file: string) => fileURLToPath(new URL(`./src/${file}`, import.meta.url))
const testsIn = (...folders: string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`)

/** What calls functions. */
const unit = testsIn('unit', 'laws', 'arch', 'native', 'openapi')

/** What asks servers of its own process, and leaves nothing behind in it. */
const server = [
  ...testsIn('http', 'live', 'rpc', 'oip', 'client', 'openai', 'protocol', 'capture'),
  'test/io/handlers.test.ts',
  ...['access', 'bentoml', 'client', 'metrics', 'rpc', 'running', 'wire'].map(
    (name) => `test/jobs/${name}.test.ts`,
  ),
]

/** What starts processes, or changes its own: sets the tracer, the add-on or a mock of node:fs. */
const processes = [
  ...testsIn('supply', 'tracing'),
  'test/http/tls.test.ts',
  'test/browser/io.test.ts',
  ...['config', 'failures', 'serve', 'start'].map((name) => `test/cli/${name}.test.ts`),
  ...['errors', 'generated', 'links'].map((name) => `test/docs/${name}.test.ts`),
  'test/jobs/sqlite.test.ts',
  ...['calls', 'failures', 'inputs', 'served', 'streams'].map(
    (name) => `test/runner/${name}.test.ts`,
  ),
]

/** What `npm test` leaves out of what needs no process for itself. */
const wide = testsIn('corpora', 'examples', 'mcp')

/** What asks processes and browsers, and leaves nothing behind in its own. */
const outside = testsIn('cli', 'docs', 'browser')

/** What waits nearly all of its time: for leases that end, and for servers that come back. */
const waiting = ['bullmq', 'bullmq-kills', 'redis-places', 'redis-silence', 'rows-kills'].map(
  (name) => `test/jobs/${name}.test.ts`,
)

/** What all projects have. Forks, not threads: uWebSockets.js is per process, and a crash must name its file. */
const common = {
  pool: 'forks',
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // What has to happen happens late on a busy machine.
  expect: { poll: { timeout: 10_000 } },
} as const

export default defineConfig({
  resolve: {
    alias: {
      'serving/config': src('cli/config/index.ts'),
      'serving/client': src('client/index.ts'),
      'serving/pool': src('runner/model-pool.ts'),
      'serving/split': src('runner/split.ts'),
      'serving/onnx': src('runner/onnx/index.ts'),
      'serving/auth': src('api/auth/index.ts'),
      'serving/openai': src('protocols/openai/index.ts'),
      'serving/io': src('io/index.ts'),
      'serving/testing': src('testing/index.ts'),
      serving: src('index.ts'),
    },
  },
  test: {
    // Vitest leaves a core free for itself, which is half of a machine with two: 1.6 times as long there. One more than
    // there are cores saves a tenth, but tests that must come first at something fail now and then.
    maxWorkers: '100%',
    // What one project or run has compiled, the others take.
    experimental: { fsModuleCache: true },
    // Without isolation the files of a fork share their modules: half of the CPU.
    projects: [
      { extends: true, test: { ...common, name: 'unit', include: unit, isolate: false } },
      {
        extends: true,
        test: { ...common, name: 'server', include: server, exclude: processes, isolate: false },
      },
      { extends: true, test: { ...common, name: 'process', include: processes } },
      { extends: true, test: { ...common, name: 'wide', include: wide, isolate: false } },
      // The laws of descriptors by the adapters of serving/io.
      {
        extends: true,
        test: {
          ...common,
          name: 'adapters',
          include: testsIn('laws'),
          env: { LAWS_BY: 'adapters' },
          isolate: false,
        },
      },
      { extends: true, test: { ...common, name: 'waiting', include: waiting } },
      // The rest, which `npm test` leaves out.
      {
        extends: true,
        test: { ...common, name: 'outside', include: outside, exclude: processes, isolate: false },
      },
      {
        extends: true,
        test: {
          ...common,
          name: 'slow',
          // What a call keeps alive shows, as it does not while V8 still chooses how much it collects at once.
          execArgv: ['--min-semi-space-size=16'],
          include: testsIn('*'),
          exclude: [...unit, ...server, ...processes, ...wide, ...outside, ...waiting],
        },
      },
    ],
  },
})
