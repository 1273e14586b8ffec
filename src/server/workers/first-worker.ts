/** The first worker process, which starts before the command knows what it serves. @module */
import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { type FirstWorker, workerNodeOptions } from './worker-process.ts'

const signals = ['SIGINT', 'SIGTERM'] as const

let first: Worker | undefined
let isLoaded = false

/** Sets the program of all workers, which accept from one shared socket. Called before the first one starts. */
export function setWorkerFile(file: URL): void {
  // Round robin, the default, hands connections over with messages, and loses them when a worker is replaced.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: fileURLToPath(file), execArgv: [...workerNodeOptions, ...process.execArgv] })
}

/**
 * Starts a worker that {@link takeFirstWorker} returns later: it loads its code while this process reads the options.
 */
export function startFirstWorker(file: URL): void {
  // Before the process is there, which takes some milliseconds to start.
  for (const signal of signals) process.once(signal, leave)
  setWorkerFile(file)
  first = cluster.fork()
  first.on('error', () => {})
  first.once('message', () => {
    isLoaded = true
  })
  // Where the options are wrong, or a signal ends this process before it supervises: else Node prints in that process
  // that this one has gone.
  process.once('exit', () => first?.process.kill('SIGKILL'))
}

function leave(): void {
  process.exit(0)
}

/** Returns the worker that {@link startFirstWorker} has started; undefined if it has ended or was never started. */
export function takeFirstWorker(): FirstWorker | undefined {
  const worker = first
  first = undefined
  for (const signal of signals) process.off(signal, leave)
  if (worker?.process.pid === undefined || worker.isDead() || !worker.isConnected()) return undefined
  return { worker, isLoaded }
}
