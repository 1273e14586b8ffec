import { loadOptional } from '../../core/modules/optional.ts'

export type { Job as BullJob, Queue, Worker } from 'bullmq'

/** @throws MissingDependencyException. */
export function loadBullmq(): typeof import('bullmq') {
  return loadOptional('bullmq', '^6.7.0', 'jobs on Redis')
}
