/**
 * The engines that tests run on. A version of Node for which uWebSockets.js has no binary has node:http alone.
 * @module
 */
import type { EngineName } from '../src/engine/options.ts'
import { loadUws } from '../src/engine/uws/uws-package.ts'

/**
 * Each engine, the default first: for what an engine does itself, as framing, limits, TLS, draining and streams.
 * test/supply/uws-binaries.test.ts fails where a binary does not load.
 */
export const bothEngines: readonly EngineName[] =
  typeof loadUws() === 'string' ? ['node'] : ['uws', 'node']

/** The default engine, for what engines share; each of them with TEST_ENGINES=all, as in `npm run test:all`. */
export const engines = process.env.TEST_ENGINES === 'all' ? bothEngines : bothEngines.slice(0, 1)
