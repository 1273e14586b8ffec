/** Which engine and how many workers can share a port. @module */
import type { EngineName } from '../../engine/options.ts'

/**
 * @returns the engine and the number of workers that can share a port: only Linux spreads
 * connections over SO_REUSEPORT.
 */
export function sharing(
  engine: EngineName | undefined,
  workers: number,
  platform: NodeJS.Platform,
): { engine: EngineName | undefined; workers: number; warning?: string } {
  if (platform === 'linux' || workers === 1 || engine === 'node') return { engine, workers }
  const why = `on ${platform} several processes cannot share a port with the uws engine`
  if (engine === 'uws')
    return { engine, workers: 1, warning: `${why}: running 1 worker instead of ${workers}` }
  return {
    engine: 'node',
    workers,
    warning: `${why}: running ${workers} workers with the node engine`,
  }
}
