import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder, send, serveFile, until, workerPids } from './process.ts'

const modelFile = `
export function load({ name, how }) {
  return {
    async who() {
      if (how === 'throws') throw new Error('broken')
      if (how === 'sleeps') await new Promise((resolve) => setTimeout(resolve, 600_000).unref())
      return name
    },
  }
}
`

/** A service of two versions whose canary does what \`how\` says. */
const serviceFile = (how: string, guard: object = {}) => `
import { io, Runner, Service } from 'serving'
import { Split } from 'serving/split'
const version = (name, how) =>
  new Runner(name, {
    module: new URL('./model.js', import.meta.url),
    methods: { who: {} },
    init: { name, how },
    concurrency: 64,
  })
const model = new Split('model', {
  stable: version('v1'),
  canary: version('v2', '${how}'),
  weights: { canary: 0 },
  guard: ${JSON.stringify(guard)},
})
const svc = new Service('split', { runners: [model] })
svc.api({ input: new io.Text(), output: new io.Text() }, function who(text, ctx) { return model.who(text, ctx) })
svc.api({ input: new io.Text(), output: new io.JSON() }, function pid() { return { pid: process.pid } })
export default svc
`

/** Serves the two versions with two workers, and the canary's share in a configuration file. */
async function served(how: string, canary: string, guard?: object) {
  const cwd = folder(
    {
      'package.json': '{"type":"module"}',
      'model.js': modelFile,
      'service.js': serviceFile(how, guard),
      'serving.config.json': JSON.stringify({ canary }),
    },
    true,
  )
  const server = await serveFile('service.js', ['--workers', '2', '--drain-timeout-ms', '500'], {
    cwd,
  })
  const { port, child, stderr } = server
  return {
    ...server,
    /** Sends a request over a connection of its own. */
    who: () => send(port, '/who', 'x'),
    reports: async () =>
      JSON.parse((await send(port, '/splits/model')).body) as {
        readonly wentBack?: string
        readonly canary: number
      }[],
    async reload(now: string) {
      writeFileSync(join(cwd, 'serving.config.json'), JSON.stringify({ canary: now }))
      const before = stderr().match(/"event":"reloaded"/g)?.length ?? 0
      child.kill('SIGHUP')
      await until(() => (stderr().match(/"event":"reloaded"/g)?.length ?? 0) > before)
      // Workers that leave may still take a connection.
      await until(
        () => stderr().match(/worker \d exited with code 0/g)?.length === 2 * (before + 1),
      )
    },
  }
}

const several = async <T>(ask: () => Promise<T>) => {
  const answers: T[] = []
  for (let i = 0; i < 12; i++) answers.push(await ask())
  return answers
}

it('takes new weights from the configuration on SIGHUP, in all workers', async () => {
  const { who, reload } = await served('answers', 'model=1')
  const all = (body: string) => Array(12).fill({ status: 200, body })
  expect(await several(who)).toEqual(all('v2'))
  await reload('model=0')
  expect(await several(who)).toEqual(all('v1'))
})

describe('a canary that leaves its guard', () => {
  const stays = async (
    { who, reports, port, stderr }: Awaited<ReturnType<typeof served>>,
    isBack: string,
  ) => {
    const processes = await until(async () => {
      const all = await reports()
      return all.length === 2 && all.every(({ wentBack }) => wentBack !== undefined) && all
    })
    expect(processes.map(({ canary }) => canary)).toEqual([0, 0])
    for (const { wentBack } of processes) expect(wentBack).toContain(isBack)
    expect((await several(who)).map(({ body }) => body)).toEqual(Array(12).fill('v1'))
    expect(stderr().match(/"event":"runner_went_back"/g)).toHaveLength(1)
    // One that takes the place of another has to be told.
    const [pid] = await workerPids(port, 2)
    process.kill(pid, 'SIGKILL')
    await until(async () => {
      const pids = await workerPids(port, 2)
      return !pids.includes(pid) && pids
    })
    expect((await several(who)).map(({ body }) => body)).toEqual(Array(12).fill('v1'))
    expect((await send(port, '/metrics')).body).toContain(
      'serving_split_canary_share{split="model"} 0',
    )
  }

  it('by errors: all workers go back to stable, those that start later too, until a reload', async () => {
    const server = await served('throws', 'model=1', { errorRate: 0.3, calls: 10 })
    // Both workers have some of them.
    for (let i = 0; i < 4; i++) expect((await server.who()).status).toBe(500)
    await stays(server, 'more of its calls failed than errorRate allows')
    server.child.kill('SIGHUP')
    await until(async () => {
      const all = await server.reports()
      return all.length === 2 && all.every(({ canary }) => canary === 1)
    })
    expect((await server.who()).status).toBe(500)
  })

  it('by its p99: all workers go back to stable, before calls that hang end', async () => {
    const server = await served('sleeps', 'model=1', { p99Ms: 20, calls: 10 })
    void server.who()
    await stays(server, 'its p99 is above 20 ms')
  })
})
