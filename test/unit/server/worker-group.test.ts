import cluster from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { workerGroup } from '../../../src/server/workers/worker-group.ts'

it('asks a worker for its metrics only once it is ready', async () => {
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('./loading-worker.mjs', import.meta.url)),
    execArgv: [],
  })
  const worker = cluster.fork()
  onTestFinished(() => void worker.process.kill('SIGKILL'))
  const group = workerGroup()
  group.follow(worker)
  const tell = async (kind: string) => {
    const answer = once(worker, 'message')
    worker.send({ kind })
    return (await answer)[0]
  }
  await once(worker, 'message')
  await group.collect()
  expect(await tell('look')).toEqual({ kind: 'heard', heard: [] })
  expect(await tell('load')).toEqual({ kind: 'ready' })
  await group.collect()
  expect(await tell('look')).toEqual({ kind: 'heard', heard: ['metrics'] })
})
