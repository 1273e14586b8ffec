/**
 * node:http and node:https, by `require`. An import of node:http takes 40 ms, since it reads all exports of the module,
 * and one of them, `WebSocket`, loads undici; `require` takes 2 ms.
 * @module
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** The module node:http. */
export const http: typeof import('node:http') = require('node:http')
/** The module node:https. */
export const https: typeof import('node:https') = require('node:https')
