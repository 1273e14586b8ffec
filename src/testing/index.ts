/** `serving/testing`: the laws of descriptors, to run over descriptors of your own. @module serving/testing */
import { laws } from './laws.ts'
import type { DescriptorSpec, TestRunner } from './spec.ts'

export { type InjectOptions, inject } from '../server/memory-engine.ts'
export type { DescriptorSpec, Refusal, Sample, TestRunner } from './spec.ts'

/**
 * Runs the laws over a descriptor, one test a law: round trip, totality, no aliasing, no state, split bodies,
 * `fromSample`, refusals.
 * `runner` is the `describe` and `it` of vitest, jest or node:test; left out, the global ones are taken.
 * **Example**
 * ```ts
 * describeDescriptor('Npy', { create: () => new Npy(), samples: [{ value: new NDArray(Float32Array.of(1, 2)) }] },
 * { describe, it })
 * ```
 */
export function describeDescriptor<In, Out>(
  name: string,
  spec: DescriptorSpec<In, Out>,
  runner: TestRunner = globalThis as unknown as TestRunner,
): void {
  runner.describe(`${name} keeps the laws of descriptors:`, () => {
    for (const law of laws(spec)) runner.it(law.name, law.check)
  })
}
