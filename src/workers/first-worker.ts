/**
 * The first worker process, which starts before the command knows what it serves.
 * @module
 */
import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { type FirstWorker, workerNodeOptions } from './worker-process.ts'

let first: Worker | undefined
let isLoaded = false

/** Sets the program of all workers. */
export function setWorkerFile(file: URL): void {
  cluster.setupPrimary({ exec: fileURLToPath(file), execArgv: [...workerNodeOptions, ...process.execArgv] })
}

/**
 * Starts a worker that {@link takeFirstWorker} returns later. It loads its code on another core, while this process
 * loads its own and reads the options: a service is ready 60 to 90 ms sooner.
 */
export function startFirstWorker(file: URL): void {
  setWorkerFile(file)
  first = cluster.fork()
  // One that could not be started is not taken, and the next attempt is reported.
  first.on('error', () => {})
  first.once('message', () => {
    isLoaded = true
  })
  // Where the options are wrong: else Node prints in that process that this one has gone.
  process.once('exit', () => first?.process.kill('SIGKILL'))
}

/** Returns the worker that {@link startFirstWorker} has started; undefined where it has ended, or there is none. */
export function takeFirstWorker(): FirstWorker | undefined {
  const worker = first
  first = undefined
  if (worker?.process.pid === undefined || worker.isDead() || !worker.isConnected()) return undefined
  return { worker, isLoaded }
}
