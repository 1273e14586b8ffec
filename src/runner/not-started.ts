import { InvalidArgument } from '../core/errors.ts'

/** The part of a Runner that tells whether it can be called. */
export interface RunnerReadiness {
  readonly name: string
  /** Undefined if calls are taken. */
  readonly unready: string | undefined
}

/** A call of a Runner that nobody has started, since no Service was given it. */
export class RunnerNotStarted extends InvalidArgument {
  readonly runner: RunnerReadiness

  constructor(runner: RunnerReadiness) {
    const remedy = 'give it to new Service(name, { runners: [...] }), or await its start()'
    super(`the runner ${runner.name} has not started: ${remedy}`)
    this.runner = runner
  }
}
