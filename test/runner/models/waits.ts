import type { ModelCall } from 'serving'

/** Methods that wait for their cancellation, and one that tells how many have begun and were cancelled. */
export function load() {
  const counts = { begun: 0, cancelled: 0 }
  const untilCancelled = async (call: ModelCall): Promise<never> => {
    counts.begun++
    await new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve()))
    counts.cancelled++
    throw call.signal.reason
  }
  return {
    wait: (_text: string, call: ModelCall) => untilCancelled(call),
    waitRows: (_rows: number[], call: ModelCall): Promise<number[]> => untilCancelled(call),
    count: (what: 'begun' | 'cancelled') => counts[what],
  }
}
