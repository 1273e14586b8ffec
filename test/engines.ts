/**
 * The engines that load on this version of Node: Node 24 has no binary of uWebSockets.js in the pinned package.
 * @module
 */
import type { EngineName } from '../src/engine/options.ts'
import { loadUws } from '../src/engine/uws/uws-package.ts'

/** Names of the engines, the fastest first; test/supply/uws-binaries.test.ts fails where a binary does not load. */
export const engines: readonly EngineName[] = typeof (await loadUws()) === 'string' ? ['node'] : ['uws', 'node']
