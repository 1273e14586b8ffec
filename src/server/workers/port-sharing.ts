/**
 * Which engine and how many workers can share a port.
 * @module
 */
import type { EngineName } from '../../engine/options.ts'

/**
 * Returns the engine and the number of workers that can share a port on a platform. Only Linux spreads connections over
 * sockets with SO_REUSEPORT. Elsewhere (our choice): the node engine for several workers, since their number is what a
 * user with several cores wants; but one worker when uws was asked for by name.
 */
export function sharing(
  engine: EngineName | undefined,
  workers: number,
  platform: NodeJS.Platform,
): { engine: EngineName | undefined; workers: number; warning?: string } {
  if (platform === 'linux' || workers === 1 || engine === 'node') return { engine, workers }
  const why = `on ${platform} several processes cannot share a port with the uws engine`
  if (engine === 'uws') return { engine, workers: 1, warning: `${why}: running 1 worker instead of ${workers}` }
  return { engine: 'node', workers, warning: `${why}: running ${workers} workers with the node engine` }
}
