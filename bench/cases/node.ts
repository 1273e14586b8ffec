/**
 * Small requests on the engine of node:http.
 * @module
 */
import { bytesCases } from './bytes.ts'
import type { CasePlan } from './case.ts'
import { ndarrayCases } from './ndarray.ts'
import { textCases } from './text.ts'

const names = ['ndarray 2×4 JSON', 'Text', 'file 1 KB']

/** What people get where uWebSockets.js does not load. */
export const nodeCases: readonly CasePlan[] = [...ndarrayCases, ...textCases, ...bytesCases]
  .filter(({ name }) => names.includes(name))
  .map((plan) => ({
    ...plan,
    name: `${plan.name}, node:http`,
    contenders: ['bare, node', 'serving, node', 'fastify'],
    ours: 'serving, node',
    targets: { 'bare, node': 0.9 },
  }))
