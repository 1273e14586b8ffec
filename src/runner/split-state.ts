/** What a Split knows in one process. @module */

/** A call of the canary. **Units**: milliseconds. */
export interface Outcome {
  /** When it was known; 0 before. */
  at: number
  isFailed: boolean
  isLate: boolean
}

/** What a Split knows in one process, as JSON. */
export type SplitState = ReturnType<typeof newState>

/** @param canary - Its share of the calls. */
export function newState(canary: number) {
  return {
    /** 0 once its guard has sent it back. */
    canary,
    wentBack: undefined as string | undefined,
    /** The last calls of the canary. */
    recent: [] as Outcome[],
    /** What the copies for the shadow take. */
    held: { calls: 0, bytes: 0 },
    differences: 0,
    dropped: { calls: 0, memory: 0, uncopied: 0, unanswered: 0 },
    /** The last calls that the shadow answered otherwise, without their values. */
    findings: [] as object[],
  }
}
