/**
 * The channel between a contender's process and the harness: the port, then CPU time and memory on request.
 * @module
 */

/** What a contender's process has used. **Units**: microseconds of CPU, bytes at the peak. */
export interface Usage {
  readonly cpuMicros: number
  readonly peakBytes: number
}

/** Of this process, without its children. */
export function usageOf(): Usage {
  const { user, system } = process.cpuUsage()
  return { cpuMicros: user + system, peakBytes: process.resourceUsage().maxRSS * 1024 }
}

/** Tells the harness the port and answers its questions for {@link Usage}. */
export function listening(port: number): void {
  process.on('message', () => process.send?.({ usage: usageOf() }))
  process.on('disconnect', () => process.exit(0))
  process.send?.({ port })
}
