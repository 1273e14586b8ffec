/** The first worker process, which starts before the command knows what it serves. @module */
import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { workerNodeOptions } from './worker-options.ts'

const signals = ['SIGINT', 'SIGTERM'] as const

/** Sets the program of all workers, which accept from one shared socket. Called before the first one starts. */
export function setWorkerFile(file: URL): void {
  // Round robin, the default, hands connections over with messages, and loses them when a worker is replaced.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({
    exec: fileURLToPath(file),
    execArgv: [...workerNodeOptions, ...process.execArgv],
  })
}

/**
 * Starts a worker that {@link takeFirstWorker} returns later: it loads its code while this process reads the options.
 */
export function startFirstWorker(file: URL): void {
  // Before the process is there, which takes some milliseconds to start.
  for (const signal of signals) process.once(signal, leave)
  setWorkerFile(file)
  cluster.fork().on('error', () => {})
  // Where the options are wrong, or a signal ends this process before it supervises: else Node prints in that process
  // that this one has gone.
  process.once('exit', killWorkers)
}

function leave(): void {
  process.exit(0)
}

function killWorkers(): void {
  for (const worker of running()) worker.process.kill('SIGKILL')
}

function running(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}

/**
 * Called before others start.
 *
 * @returns the worker that {@link startFirstWorker} has started; undefined if it has ended or was
 * never started.
 */
export function takeFirstWorker(): Worker | undefined {
  for (const signal of signals) process.off(signal, leave)
  process.off('exit', killWorkers)
  return running().find(
    (worker) => worker.process.pid !== undefined && !worker.isDead() && worker.isConnected(),
  )
}
