/**
 * All jobs, in the order in which they are reported.
 * @module
 */
import { bytesCases } from './bytes.ts'
import type { CasePlan } from './case.ts'
import { frameCases } from './frame.ts'
import { liveCases } from './live.ts'
import { ndarrayCases } from './ndarray.ts'
import { nodeCases } from './node.ts'
import { oipCases } from './oip.ts'
import { rpcCases } from './rpc.ts'
import { runnerCases } from './runner.ts'
import { textCases } from './text.ts'

/** Every job that is measured. */
export const casePlans: readonly CasePlan[] = [
  ...ndarrayCases,
  ...frameCases,
  ...textCases,
  ...bytesCases,
  ...nodeCases,
  ...liveCases,
  ...rpcCases,
  ...oipCases,
  ...runnerCases,
]
