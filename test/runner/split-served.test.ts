import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { io, Runner, Service, serve } from 'serving'
import { apiKey } from 'serving/auth'
import { Split } from 'serving/split'
import { expect, it, onTestFinished } from 'vitest'
import { startCapture } from '../capture/harness.ts'
import { root, until } from '../cli/process.ts'
import { start } from '../http/harness.ts'
import { model } from './runner.ts'

type Versions = typeof import('./models/versions.ts')

function splitOf(weight: number) {
  const version = (name: string, offset = 0) =>
    new Runner<Versions>(name, {
      module: model('versions'),
      methods: { who: {}, add: {} },
      init: { name, offset },
      threads: 0,
      version: `${name.slice(1)}.0`,
    })
  return new Split('model', {
    stable: version('v1'),
    canary: version('v2'),
    shadow: version('v3', 1),
    weights: { canary: weight },
  })
}

const defineWho = (split: ReturnType<typeof splitOf>) => (svc: Service) => {
  svc.api({ input: new io.Text(), output: new io.Text(), name: 'who' }, (text, ctx) =>
    split.who(text, ctx),
  )
  svc.api(
    {
      input: new io.NumpyNdarray({ dtype: 'float32' }),
      output: new io.NumpyNdarray(),
      name: 'add',
    },
    (x, ctx) => split.add(x, ctx),
  )
}

it('is in the metrics and on the page, by version', async () => {
  const split = splitOf(0)
  const { port } = await start('node', defineWho(split), { docs: true }, { runners: [split] })
  const base = `http://127.0.0.1:${port}`
  const post = (path: string, body: string, type: string) =>
    fetch(`${base}/${path}`, { method: 'POST', body, headers: { 'content-type': type } })
  expect(await (await post('add', '[1]', 'application/json')).json()).toEqual([1])
  expect(await (await post('who', 'x', 'text/plain')).text()).toBe('v1')
  const reports = await until(async () => {
    const all = (await (await fetch(`${base}/splits/model`)).json()) as { findings: object[] }[]
    return all[0].findings.length === 2 && all
  })
  expect(reports).toMatchObject([
    {
      canary: 0,
      differences: 2,
      dropped: { calls: 0, memory: 0, uncopied: 0, unanswered: 0 },
      findings: [{ method: 'add', at: expect.any(String) }, { method: 'who' }],
    },
  ])
  // The values of people's calls are not told.
  const told = ['at', 'method', 'request', 'size', 'time']
  for (const finding of reports[0].findings)
    expect(Object.keys(finding).filter((name) => !told.includes(name))).toEqual([])
  const metrics = await (await fetch(`${base}/metrics`)).text()
  for (const line of [
    'serving_split_seconds_count{split="model",version="stable"} 2',
    'serving_split_errors_total{split="model",version="shadow"} 0',
    'serving_split_differences_total{split="model"} 2',
    'serving_split_dropped_total{split="model",reason="memory"} 0',
    'serving_split_canary_share{split="model"} 0',
    // Each version is a Runner of its own.
    'serving_queue_depth{runner="v3"} 0',
  ])
    expect(metrics).toContain(line)
  const page = await (await fetch(`${base}/docs/page.json`)).json()
  const { entries } = page as { entries: object[] }
  expect(entries).toContainEqual(
    expect.objectContaining({ group: 'Splits', path: '/splits/model', methods: ['GET'] }),
  )
})

it('tells about its calls only whom auth of the service admits', async () => {
  const split = splitOf(0)
  const auth = apiKey({
    keys: [{ name: 'one', hash: createHash('sha256').update('a key').digest('hex') }],
  })
  const { port } = await start('node', defineWho(split), {}, { runners: [split], auth })
  expect((await fetch(`http://127.0.0.1:${port}/splits/model`)).status).toBe(401)
})

it('is recorded by capture with the version that answered', async () => {
  const split = splitOf(1)
  const { post, rows } = await startCapture(
    defineWho(split),
    {},
    { serviceOptions: { runners: [split] } },
  )
  expect(await (await post('who', 'x', { 'content-type': 'text/plain' })).text()).toBe('v2')
  expect((await rows('who')).map((row) => JSON.parse(row.models as string))).toEqual([
    { v2: '2.0' },
  ])
})

it('takes the share of its canary from the options of the server', async () => {
  const split = splitOf(0)
  const runners = [split]
  const { port } = await start('node', defineWho(split), { canary: 'model=1' }, { runners })
  const answer = await fetch(`http://127.0.0.1:${port}/who`, {
    method: 'POST',
    body: 'x',
    headers: { 'content-type': 'text/plain' },
  })
  expect(await answer.text()).toBe('v2')
  const served = (canary: string) => {
    const svc = new Service('other', { runners: [splitOf(0)] })
    defineWho(split)(svc)
    return serve(svc, { port: 0, canary })
  }
  await expect(served('modell=1')).rejects.toThrow(
    'expected the name of a Split with a canary for canary, received "modell"',
  )
  await expect(served('model=2')).rejects.toThrow('a text as in model=0.05 for canary')
})

it.skipIf(!isBuiltin('node:sqlite'))(
  'takes the share in a process that only runs jobs, too',
  async () => {
    const split = splitOf(0)
    const folder = mkdtempSync(join(tmpdir(), 'serving-split-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const jobs = { store: `sqlite:${join(folder, 'jobs.db')}` }
    const svc = new Service('work', { runners: [split], jobs })
    const text = { input: new io.Text(), output: new io.Text() }
    svc.api({ ...text, name: 'who', async: true }, (value, ctx) => split.who(value, ctx))
    const listener = await serve(svc, { port: 0, jobRole: 'work', canary: 'model=1' })
    onTestFinished(() => listener.close())
    expect(await split.who('x')).toBe('v2')
  },
)

it('answers by the Open Inference Protocol as its stable version', async () => {
  const split = splitOf(0)
  const tensor = [{ name: 'x', dtype: 'float32', shape: [-1] }] as const
  const models = [{ runner: split, method: 'add', inputs: tensor, outputs: tensor, version: '7' }]
  const { port } = await start('node', () => {}, {}, { models } as never)
  const answer = await fetch(`http://127.0.0.1:${port}/v2/models/model/infer`, {
    method: 'POST',
    body: JSON.stringify({ inputs: [{ name: 'x', shape: [2], datatype: 'FP32', data: [1, 2] }] }),
    headers: { 'content-type': 'application/json' },
  })
  expect(await answer.json()).toMatchObject({ outputs: [{ name: 'x', data: [1, 2] }] })
})

it('is loaded by services that have one, and by no other', () => {
  const loadedBy = (lines: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'serving-split-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const code = `import { io, Runner, Service, serve } from './dist/index.js'
      const model = new Runner('v1', { url: 'http://127.0.0.1:1' })
      ${lines}
      const svc = new Service('s', { runners: [runner] })
      svc.api({ input: new io.Text(), output: new io.Text() }, function same(text) { return text })
      const listener = await serve(svc, { port: 0, host: '127.0.0.1', logLevel: 'fatal' })
      await listener.close()`
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', code],
      { cwd: root, encoding: 'utf8', env: { ...process.env, NODE_V8_COVERAGE: folder } },
    )
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const [file] = readdirSync(folder)
    const { result } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    const urls: string[] = result.map(({ url }: { url: string }) => url)
    expect(urls.some((url) => url.endsWith('/dist/index.js'))).toBe(true)
    return urls.filter((url) => /\/dist\/.*split/.test(url)).length
  }
  expect(loadedBy('const runner = model')).toBe(0)
  const split = `const { Split } = await import('./dist/runner/split.js')
    const runner = new Split('model', { stable: model })`
  expect(loadedBy(split)).toBeGreaterThan(0)
})
