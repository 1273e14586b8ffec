/** The start and the end of a service: its hooks, and what it loads. @module */

import { Overloaded } from '../core/errors.ts'
import type { RunnerLife, StartOptions } from '../runner/runner.ts'

/** Work at the start or the end of a service; awaited. */
export type Hook = () => void | Promise<void>

/** How a service is started. */
export interface ServiceStart extends StartOptions {
  /** @default true */
  readonly withRunners?: boolean
}

/** The part of a Service that is loaded. */
interface LoadingService {
  readonly name: string
  readonly runners: readonly RunnerLife[]
}

/** From the startup hooks of a service to its shutdown hooks. */
export class ServiceLife {
  readonly startup: Hook[] = []
  readonly shutdown: Hook[] = []
  readonly #service: LoadingService
  readonly #started: RunnerLife[] = []
  #hasRunners = true
  #isCancelled = false

  constructor(service: LoadingService) {
    this.#service = service
  }

  /** Why the service cannot answer now, though it has started; undefined if it can. */
  get unready(): string | undefined {
    if (!this.#hasRunners) return undefined
    return this.#service.runners.find(({ unready }) => unready !== undefined)?.unready
  }

  /** Runs the startup hooks in order, waits for `ready`, then loads all runners at the same time. */
  async start(
    { withRunners = true, ...options }: ServiceStart,
    ready: () => Promise<void>,
  ): Promise<void> {
    this.#hasRunners = withRunners
    for (const hook of this.startup) await hook()
    await ready()
    if (this.#isCancelled)
      throw new Overloaded(`the start of the service ${this.#service.name} was broken off`)
    const starts = (withRunners ? this.#service.runners : []).map(async (runner) => {
      await runner.start(options)
      this.#started.push(runner)
    })
    // All must settle, so that a failed start stops all that has started.
    for (const { status, reason } of (await Promise.allSettled(
      starts,
    )) as PromiseRejectedResult[]) {
      if (status === 'rejected') throw reason
    }
  }

  /** Lets a running start fail soon: it does not wait for models. */
  cancel(): void {
    this.#isCancelled = true
    for (const runner of this.#service.runners) void runner.stop()
  }

  /** Runs all shutdown hooks, then stops the runners; throws the first failure. */
  async stop(): Promise<void> {
    const ends = this.#started.splice(0).map((runner) => () => runner.stop())
    await endAll([...this.shutdown.toReversed(), ...ends])
  }
}

/** Runs all, one after the other. @throws the first failure, when all have run. */
export async function endAll(ends: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const end of ends) {
    try {
      await end()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
