import type { JobStore } from './job-store.ts'

/** Where a service keeps its jobs. */
export interface JobsOptions {
  /**
   * `sqlite:` with a file, `redis://…`, or a store of your own. The command's `--job-store` takes precedence. Default
   * `sqlite:./jobs.db`, in the working directory.
   */
  readonly store?: string | JobStore
}
