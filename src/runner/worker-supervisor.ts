/** Keeps the model loaded in all workers of a runner, and in each worker that replaces another. @module */

import { Overloaded, SetupError } from '../core/errors.ts'
import { deferred, within } from '../core/promise.ts'
import type { RunnerCounts, ThreadStates } from '../telemetry/metrics/runner-counts.ts'
import type { Clock } from './clock.ts'
import { Dispatcher } from './dispatcher.ts'
import type { LoadMessage, LoadReply } from './model-messages.ts'
import { errorFromFields } from './remote-error.ts'
import type { RunnerSettings } from './runner-options.ts'
import { pack } from './transfer.ts'
import { deviceOf, type ModelWorker, type StartWorkers, type Transfer } from './worker.ts'

/** What happens to a runner's workers, for the log. */
export interface RunnerEvent {
  /** `load_failed`: of a replacement. `hung`: beyond `modelGraceMs`. `printed`: a line of a Python model. */
  readonly kind:
    | 'environment'
    | 'ended'
    | 'load_failed'
    | 'replaced'
    | 'hung'
    | 'unhandled_rejection'
    | 'printed'
  readonly message: string
  readonly cause?: Error
}

/** Longest pause between two attempts to replace a worker. **Units**: milliseconds. */
const maxDelayMs = 30_000
const firstDelayMs = 250
/** Time for loading models, and then for running calls, when the runner stops. **Units**: milliseconds. */
const stopGraceMs = 1_000

/** What a supervisor needs beside its runner's settings. */
export interface SupervisorOptions {
  readonly start: StartWorkers
  readonly entry: URL
  readonly clock: Clock
  readonly counts: RunnerCounts
  readonly graceMs: number
  onEvent(event: RunnerEvent): void
}

/** The workers of one runner and the dispatcher that gives them calls, from start to stop. */
export type WorkerSupervisor = ReturnType<typeof superviseWorkers>

/** Starts the workers of a runner. */
export function superviseWorkers(settings: RunnerSettings, options: SupervisorOptions) {
  const { name, module, init, methods, warmup, memoryLimitMb, boundary, deviceIds, onHang } =
    settings
  const { clock, counts, graceMs, onEvent } = options
  const size = Math.max(1, settings.threads)
  const started = deferred<void>()
  const retries = new Map<ModelWorker, () => void>()
  const loads = new Set<Promise<void>>()
  const hung = new Set<ModelWorker>()
  let loaded = 0
  let isStarted = false
  let failures = 0
  let problem: string | undefined
  let isStopped = false

  const onHung = (worker: ModelWorker, method: string) => {
    if (hung.has(worker)) return
    const what = `${method} of the runner ${name} has not returned in ${worker.name} ${graceMs} ms after its deadline`
    const then =
      onHang === 'replace'
        ? 'is ended and replaced'
        : "gets no calls until it returns (onHang is 'report')"
    onEvent({ kind: 'hung', message: `${what}: the ${worker.name.split(' ')[0]} ${then}` })
    if (onHang === 'report') return
    hung.add(worker)
    dispatcher.endWorker(worker)
  }
  const dispatcher = new Dispatcher({ ...settings, clock, counts, graceMs, onHung })

  // Sent to each worker: nothing in it may be moved.
  const loadViews: Transfer[] = []
  const packShared = (value: unknown) =>
    pack(value, boundary === 'python' ? boundary : 'process', loadViews)
  const common: Omit<LoadMessage, 'index' | 'device'> = {
    kind: 'load',
    runner: name,
    module,
    init: boundary === 'none' ? { value: init } : packShared(init),
    methods: methods.map((method) => method.name),
    warmup: warmup.map(([method, input]) => [method, packShared(input)]),
  }

  const loadFailed = (worker: ModelWorker, cause: Error) => {
    const failed = `the runner ${name} could not load its model`
    const message = `${failed} in ${worker.name}: ${cause.message}`
    if (!isStarted) {
      started.reject(new SetupError('internal', message, { cause }))
      return
    }
    failures++
    // Without the cause, which may name files: the readiness is public.
    problem = failed
    // The model may never load again: callers hear of it now, not at their deadlines.
    if (dispatcher.workers === 0) dispatcher.close(new Overloaded(message, { cause }))
    onEvent({ kind: 'load_failed', message, cause })
    // The module loader remembers a failure in each thread: only a new worker can try again.
    worker.kill()
  }

  const startLoad = (worker: ModelWorker) => {
    const load = loadInto(worker).finally(() => loads.delete(load))
    loads.add(load)
  }

  const loadInto = async (worker: ModelWorker) => {
    const device =
      boundary === 'process' && deviceIds !== undefined ? 0 : deviceOf(deviceIds, worker.index)
    const load: LoadMessage = { ...common, index: worker.index, device }
    let failure: Error | undefined
    try {
      const reply = (await worker.run(load, loadViews)) as LoadReply
      failure = reply.failure === undefined ? undefined : errorFromFields(reply.failure)
    } catch (error) {
      failure = error as Error
    }
    if (isStopped) return
    if (failure !== undefined) {
      loadFailed(worker, failure)
      return
    }
    failures = 0
    problem = undefined
    dispatcher.open()
    dispatcher.addWorker(worker)
    if (isStarted) {
      counts.replaced++
      onEvent({ kind: 'replaced', message: `the runner ${name} has its model in ${worker.name}` })
    } else if (++loaded === size) {
      isStarted = true
      started.resolve()
    }
  }

  const pool = options.start({
    entry: options.entry,
    count: size,
    memoryLimitMb,
    deviceIds,
    up(worker) {
      if (isStopped) return
      if (failures === 0) {
        startLoad(worker)
        return
      }
      const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** (failures - 1))
      const retry = () => {
        retries.delete(worker)
        startLoad(worker)
      }
      retries.set(worker, clock.after(delay, retry))
    },
    down(worker, cause) {
      dispatcher.removeWorker(worker)
      retries.get(worker)?.()
      retries.delete(worker)
      if (!isStarted) {
        const message = `the runner ${name} could not load its model: ${cause.message}`
        started.reject(new SetupError('internal', message, { cause }))
      } else if (!hung.delete(worker) && failures === 0) {
        onEvent({
          kind: 'ended',
          message: `the runner ${name} lost a model: ${cause.message}`,
          cause,
        })
      }
    },
    stray(worker, cause) {
      const message = `a promise that nobody handles was rejected in ${worker.name} of the runner ${name}`
      onEvent({ kind: 'unhandled_rejection', message: `${message}: ${cause.message}`, cause })
    },
    printed: (_worker, message) => onEvent({ kind: 'printed', message }),
  })

  /** Ends all workers. Waiting calls fail at once, running ones and models that load have a second. */
  const stop = async () => {
    isStopped = true
    for (const cancel of retries.values()) cancel()
    retries.clear()
    const end = new Overloaded(`the runner ${name} has stopped`)
    dispatcher.close(end)
    started.reject(end)
    // onnxruntime-node may end the whole process if its thread is ended while it loads or computes.
    await within(Promise.all(loads), stopGraceMs, undefined)
    await dispatcher.idle(stopGraceMs)
    await pool.stop()
  }

  return {
    dispatcher,
    stop,
    /**
     * Resolves when all workers have the model.
     *
     * @throws SetupError; then all have ended.
     */
    async started(): Promise<void> {
      try {
        await started.promise
      } catch (error) {
        await stop()
        throw error
      }
    },
    get unready(): string | undefined {
      if (isStopped) return `the runner ${name} has stopped`
      if (isStarted && dispatcher.usable > 0) return undefined
      if (dispatcher.workers > 0) return `calls of the runner ${name} hang in all of its workers`
      return problem ?? `the runner ${name} is loading its model`
    },
    get threads(): ThreadStates {
      return { ...dispatcher.states, starting: Math.max(0, size - dispatcher.workers) }
    },
  }
}
