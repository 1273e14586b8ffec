/** The processes whose metrics are reported together: the workers of a supervisor, or this process alone. @module */
import type { MetricFamily } from './metric-family.ts'

/** Returns the metrics of each process of the group. */
export type CollectGroup = () => Promise<readonly (readonly MetricFamily[])[]>

let collect: CollectGroup | undefined

/** Makes this process a member of a group. Called by worker processes, before they serve. */
export function joinGroup(collectGroup: CollectGroup): void {
  collect = collectGroup
}

/** Returns the metrics of each process of the group; `own` if this process is alone. */
export async function collectGroup(own: () => Promise<readonly MetricFamily[]>): ReturnType<CollectGroup> {
  return collect === undefined ? [await own()] : await collect()
}
