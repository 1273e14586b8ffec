/**
 * The channel between a contender's process and the harness: the port, then CPU time and memory on request.
 * @module
 */

/** CPU time and memory of a contender's process. **Units**: microseconds of CPU, bytes at the peak. */
export interface Usage {
  readonly cpuMicros: number
  readonly peakBytes: number
}

/** Returns those of this process, without its children. */
export function usageOf(): Usage {
  const { user, system } = process.cpuUsage()
  return { cpuMicros: user + system, peakBytes: process.resourceUsage().maxRSS * 1024 }
}

/** Sends the harness the port and, on request, {@link Usage}. */
export function listening(port: number): void {
  process.on('message', () => process.send?.({ usage: usageOf() }))
  process.on('disconnect', () => process.exit(0))
  process.send?.({ port })
}
