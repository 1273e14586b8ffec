import cluster from 'node:cluster'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { probe, root } from './process.ts'

/** Starts a worker process, and sends it messages that it finds all at once when it asks for its settings. */
async function startWorker(...messages: readonly object[]) {
  cluster.setupPrimary({ exec: join(root, 'dist/cli/worker.js'), execArgv: [], silent: true })
  const worker = cluster.fork()
  onTestFinished(() => void worker.process.kill('SIGKILL'))
  const [loaded] = await once(worker, 'message')
  expect(loaded).toEqual({ kind: 'loaded' })
  worker.process.kill('SIGSTOP')
  const settings = {
    file: probe,
    serve: { port: 0, host: '127.0.0.1', engine: 'node', logLevel: 'silent' },
  }
  for (const message of [{ kind: 'start', config: settings, opens: 'when_told' }, ...messages])
    worker.send(message)
  worker.process.kill('SIGCONT')
  return worker.process
}

describe('a worker process', () => {
  it('opens if it is told so together with its settings', async () => {
    const worker = await startWorker({ kind: 'open' })
    const [ready] = await once(worker, 'message')
    expect(ready).toMatchObject({ kind: 'ready', service: 'probe', engine: 'node' })
  })

  it('leaves if it is told so together with its settings', async () => {
    const worker = await startWorker({ kind: 'drain', atOnce: true })
    expect(await once(worker, 'close')).toEqual([0, null])
  })
})
